"""OTLP out: the next hop, the outbox and the dead letters."""
