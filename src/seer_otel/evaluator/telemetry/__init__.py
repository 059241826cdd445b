"""What the service says of itself: metrics, health, logs."""
