"""How a context is laid before a judge: within limits, each document once, in calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from seer_otel.metrics.documents import document
from seer_otel.retrieval import Passage


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a context is judged, and how much of it at once."""

    passages_per_call: int = 50
    characters_per_passage: int = 4_000
    """A longer passage counts as several towards one call; it is not cut."""
    max_passages: int = 500
    """Readable passages judged at all; the surplus is left out."""
    max_characters: int = 32_000
    """Characters of a passage judged at all; the surplus is cut."""


@dataclass(frozen=True, slots=True)
class Document:
    """A distinct text, and where it stands in the context."""

    text: str
    positions: tuple[int, ...]
    """From 1 in the order given, ascending; more than one where there are copies."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A context as it is judged."""

    context: tuple[Passage, ...]
    """A beginning of the context given, so that positions are the same; long texts cut."""
    calls: tuple[tuple[Document, ...], ...]
    """The documents, in order, as many at a time as one call takes; empty: nothing to judge."""
    passages: int
    """Readable passages in `context`, copies included."""
    passages_dropped: int
    characters_dropped: int

    @property
    def unreadable(self) -> int:
        """Items without a text, among those not dropped."""
        return len(self.context) - self.passages


def lay_out(context: Sequence[Passage], limits: Limits) -> Layout:
    """Bring a context within limits, find its documents, and deal them out to calls."""
    readable = sum(passage.readable for passage in context)
    kept: list[Passage] = []
    positions: dict[str, list[int]] = {}
    texts: dict[str, str] = {}
    characters_dropped = 0
    passages = 0
    for position, passage in enumerate(context, start=1):
        if passage.text is None or not passage.readable:
            kept.append(passage)
            continue
        if passages == limits.max_passages:
            break
        passages += 1
        text = passage.text[: limits.max_characters]
        if surplus := len(passage.text) - len(text):
            characters_dropped += surplus
            passage = replace(passage, text=text, truncated=True)
        kept.append(passage)
        identity = document(text)
        texts.setdefault(identity, text)
        positions.setdefault(identity, []).append(position)
    documents = [Document(texts[identity], tuple(at)) for identity, at in positions.items()]
    return Layout(
        context=tuple(kept),
        calls=tuple(_deal(documents, limits)),
        passages=passages,
        passages_dropped=readable - passages,
        characters_dropped=characters_dropped,
    )


def _deal(documents: Sequence[Document], limits: Limits) -> Iterator[tuple[Document, ...]]:
    call: list[Document] = []
    filled = 0
    for item in documents:
        weight = -(-len(item.text) // limits.characters_per_passage)
        if call and filled + weight > limits.passages_per_call:
            yield tuple(call)
            call, filled = [], 0
        call.append(item)
        filled += weight
    if call:
        yield tuple(call)
