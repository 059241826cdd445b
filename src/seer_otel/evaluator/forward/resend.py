"""Send dead letters again, once what made the next hop refuse them is mended."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from seer_otel.errors import NextHopBusy, NextHopRefused
from seer_otel.evaluator.envelope import Envelope
from seer_otel.evaluator.forward.dead_letters import letters
from seer_otel.evaluator.forward.next_hop import NextHop

Outcome = Literal["sent", "refused", "waits", "partial"]
"""
`sent`: taken, and no longer a letter. `refused`: again. `waits`: the next hop does not take spans
now. `partial`: a part of it was taken before, and nobody asked to send that twice.
"""


@dataclass(frozen=True, slots=True)
class Resent:
    """What became of one letter."""

    file: str
    spans: int
    outcome: Outcome
    reason: str
    """Why it was, or is, refused."""


async def resend(data_dir: Path, next_hop: NextHop, *, partial: bool) -> AsyncIterator[Resent]:
    """
    Send the letters of a data folder, one by one; each that is taken is deleted.

    After the first that the next hop has no time for, none is tried any more.

    Args:
        data_dir: Of an evaluator, which may be running.
        next_hop: Where they go.
        partial: Whether to send requests, too, of which a part was taken before: that part
            arrives twice.
    """
    busy: str | None = None
    for path, entry in letters(data_dir):
        request = path.read_bytes()
        told = entry.reason if entry else ""
        if entry is not None and entry.partial and not partial:
            yield Resent(path.name, entry.spans, "partial", told)
            continue
        spans = len(Envelope.open(request))
        if busy is None:
            try:
                rejected = (await next_hop.send(request)).rejected_spans
            except NextHopRefused as error:
                yield Resent(path.name, spans, "refused", str(error))
                continue
            except NextHopBusy as error:
                busy = str(error)
            else:
                if rejected:
                    said = f"partial success: {rejected} rejected"
                    yield Resent(path.name, spans, "refused", said)
                    continue
                path.unlink()
                yield Resent(path.name, spans, "sent", told)
                continue
        yield Resent(path.name, spans, "waits", busy)
