"""The real Collector, Jaeger and evaluator around a real application."""
