"""Training of the embedded judge: from labelled questions to the file that the product ships."""
