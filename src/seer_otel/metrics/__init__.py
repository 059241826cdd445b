"""Pure arithmetic: no I/O, no clock, no OpenTelemetry."""
