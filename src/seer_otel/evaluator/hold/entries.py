"""What is in the hold and the outbox, by what key, and how large it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, NamedTuple

from seer_otel.dialects import record_ids

Origin = Literal["pipeline", "copy", "event", "left"]
"""
`pipeline`: a span on its way. `copy`: judged beside its span, which goes elsewhere. `event`: a
span that was made of a logged event; nobody waits for it. `left`: a span whose carrier is due.
"""
Kind = Literal["retrieval", "plain", "carrier"]


class Key(NamedTuple):
    """
    What makes a retrieval itself: delivered twice, it is judged and forwarded once.

    A span's are its ids. Those of a logged event follow from its record id alone.
    """

    trace_id: bytes
    span_id: bytes

    @classmethod
    def of(cls, record_id: str) -> "Key":
        """Return the key of the span or event with a record id."""
        if ids := record_ids.ids_of_span(record_id):
            return cls(bytes.fromhex(ids[0]), bytes.fromhex(ids[1]))
        digest = sha256(record_id.encode("utf-8", "surrogatepass")).digest()
        return cls(digest[8:24], digest[:8])


@dataclass(frozen=True, slots=True)
class Held:
    """A retrieval in the hold."""

    key: Key
    request: bytes
    """
    Export request that holds this one span, as it came.

    Of an event that was logged in a span, the one span has that span's ids, and not the key's.
    """
    origin: Origin
    received: float
    """Wall clock, seconds since the epoch."""
    onward: bytes | None = None
    """The request as it goes on where it is judged already; None: as it came."""

    @property
    def passing(self) -> "Outgoing":
        """What leaves where it is judged already."""
        return Outgoing(self.onward or self.request, 1, "retrieval")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Bytes on their way to the next hop."""

    request: bytes
    spans: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Queued:
    """An entry of the outbox."""

    id: int
    outgoing: Outgoing


@dataclass(frozen=True, slots=True)
class Release:
    """How a retrieval leaves the hold."""

    outgoing: Sequence[Outgoing]
    carrier_is_due: bool = False
    """It leaves without its verdict: the entry stays, marked `left`, until that is there."""
    record: tuple[str, str] | None = None
    """A record id, and the JSON to be kept under it."""


Arrived = Literal["held", "passed", "upgraded", "duplicate", "queued"]
"""
`held`: new. `passed`: new, and let through at once. `upgraded`: the span itself came after its
copy, which is still held. `duplicate`: known already. `queued`: its copy was judged and the result
has left, so the span passes as it came.
"""


@dataclass(slots=True)
class Statistics:
    """Sizes, in spans and bytes; carriers and entries marked `left` are no accepted spans."""

    held_spans: int = 0
    held_bytes: int = 0
    queued_spans: int = 0
    queued_carriers: int = 0
    queued_bytes: int = 0

    def count_queued(self, kind: Kind, spans: int, size: int) -> None:
        """Add to what is queued; negative numbers take away."""
        if kind == "carrier":
            self.queued_carriers += spans
        else:
            self.queued_spans += spans
        self.queued_bytes += size
