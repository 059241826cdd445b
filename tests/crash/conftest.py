"""No process outlives its test."""

from tests.crash.process import no_process_left

__all__ = ["no_process_left"]
