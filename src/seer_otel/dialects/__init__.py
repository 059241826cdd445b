"""From a span to a retrieval, one module an instrumentation; from a verdict to the wire."""
