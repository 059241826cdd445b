"""The running evaluator of the service tests."""

from tests.service.conftest import next_hop, start

__all__ = ["next_hop", "start"]
