"""A small RAG application, once with our API and once with OpenInference alone."""
