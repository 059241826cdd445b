"""
One sampling decision a trace, the same in every process and language.

A trace is judged at a rate when its *point* lies below the rate:

    digest = SHA-256(b"seer_otel.sampling.v1" + the 16 bytes of the trace id)
    point  = (the first 8 bytes of the digest, as a big-endian integer, shifted right by 11) / 2**53

So 0 <= point < 1, exact as an IEEE double. For the trace id 4bf92f3577b34da6a3ce929d0e0e4736 the
point is 0.007917617528331644.

A trace that is judged at one rate is judged at every higher one. The hash is salted because head
samplers decide by the trace id's own bits: an unsalted decision would keep all or nothing of what
they let through.
"""

import hashlib
from typing import Final

_SALT: Final = b"seer_otel.sampling.v1"


def point(trace_id: str) -> float:
    """
    Return where a trace stands between 0 and 1, 1 excluded.

    Args:
        trace_id: Hex digits.

    Raises:
        ValueError: The trace id is not hex.
    """
    digest = hashlib.sha256(_SALT + bytes.fromhex(trace_id)).digest()
    return (int.from_bytes(digest[:8]) >> 11) / 2**53


def sampled(trace_id: str, rate: float) -> bool:
    """
    Return whether a trace is judged at a rate, 0..1.

    Raises:
        ValueError: The rate is not in 0..1, or the trace id is not hex.
    """
    return point(trace_id) < _checked(rate)


def decide(trace_id: str, *, sampled: bool | None, rate: float | None, default_rate: float) -> bool:
    """
    Return whether a trace is judged.

    Args:
        trace_id: Hex digits.
        sampled: The decision made upstream (`seer.sampled`); obeyed.
        rate: This request's rate (`seer.sample_rate`).
        default_rate: The configured rate, for a request without one.

    Raises:
        ValueError: The rate that counts is not in 0..1, or the trace id is not hex.
    """
    if sampled is not None:
        return sampled
    return point(trace_id) < _checked(default_rate if rate is None else rate)


def _checked(rate: float) -> float:
    if not 0 <= rate <= 1:
        raise ValueError(f"a sample rate lies between 0 and 1, not {rate}")
    return rate
