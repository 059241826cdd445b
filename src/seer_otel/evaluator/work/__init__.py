"""From a held retrieval to its release: settling, judging, trace results."""
