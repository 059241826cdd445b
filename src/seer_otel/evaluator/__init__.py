"""The service: receives OTLP, holds retrievals on disk, judges, attaches, forwards."""
