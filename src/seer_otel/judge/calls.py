"""Calls to a model: what one was like, and what it cost."""

from collections.abc import Callable
from dataclasses import dataclass

from seer_otel.verdict import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model, answered or not."""

    model: str
    server: str
    """Host name."""
    duration_s: float
    usage: Usage = Usage()
    error_type: str | None = None
    """None where it was answered."""


Observe = Callable[[Call], None]
"""Is told of every call once it has ended."""


@dataclass(frozen=True, slots=True)
class Price:
    """Of a model, per million tokens, in a currency of the user's."""

    input: float
    output: float

    def of(self, input_tokens: int | None, output_tokens: int | None) -> float | None:
        """Return what a call cost; None where its tokens are unknown."""
        if input_tokens is None or output_tokens is None:
            return None
        return (input_tokens * self.input + output_tokens * self.output) / _MILLION
