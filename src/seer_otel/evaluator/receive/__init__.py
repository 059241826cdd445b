"""OTLP in: gRPC and HTTP, limits, and the table of answers."""
