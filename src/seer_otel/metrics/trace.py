"""What the hops of one trace show together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from seer_otel.metrics.documents import documents, supporting
from seer_otel.retrieval import Passage


class Ended(Protocol):
    """What tells which hop is the final one."""

    @property
    def end_ns(self) -> int:
        """When it ended."""
        ...

    @property
    def is_final_context(self) -> bool:
        """Whether the application marked it as the evidence that the answer is written from."""
        ...


_Ended = TypeVar("_Ended", bound=Ended)


@dataclass(frozen=True, slots=True)
class Hop:
    """One retrieval of a trace, judged against the task."""

    context: Sequence[Passage]
    requirements: Sequence[Collection[int]]
    """For each requirement of the task the positions cited, from 1; the same K in every hop."""
    end_ns: int
    is_final_context: bool = False

    def supported(self) -> frozenset[int]:
        """Return the requirements, from 1, that a passage of this hop supports."""
        support = supporting(documents(self.context), self.requirements)
        return frozenset(n for n, texts in enumerate(support, start=1) if texts)


def final_hop(hops: Sequence[_Ended]) -> _Ended:
    """
    Return the hop whose scores are the trace's: the last to end of those marked, else of all.

    Of hops that ended together the one given last is the later.

    Raises:
        ValueError: There are no hops.
    """
    candidates = [hop for hop in hops if hop.is_final_context] or hops
    return max(reversed(candidates), key=lambda hop: hop.end_ns)


def cumulative_recall(hops: Sequence[Hop]) -> float | None:
    """
    Return the requirements of the task that any hop supports / K; None where K = 0.

    Raises:
        ValueError: The hops disagree about K.
    """
    requirements = _requirements(hops)
    if not requirements:
        return None
    return len(frozenset().union(*(hop.supported() for hop in hops))) / requirements


def new_requirements(hops: Sequence[Hop]) -> tuple[tuple[int, ...], ...]:
    """
    Return the requirements, from 1, that each hop is the first to support.

    One entry a hop, in the order given. Of hops that ended together the one given first is the
    earlier.

    Raises:
        ValueError: The hops disagree about K.
    """
    _requirements(hops)
    new: dict[int, tuple[int, ...]] = {}
    before: frozenset[int] = frozenset()
    for index in _in_end_order(hops):
        supported = hops[index].supported()
        new[index] = tuple(sorted(supported - before))
        before |= supported
    return tuple(new[index] for index in range(len(hops)))


def redundancy(hops: Sequence[Hop]) -> float | None:
    """
    Return the share of the later hops' passages that an earlier hop had already brought.

    None where no hop but the first brought a passage.
    """
    brought: frozenset[str] = frozenset()
    repeated = later = 0
    for number, index in enumerate(_in_end_order(hops)):
        texts = [text for text in documents(hops[index].context) if text is not None]
        if number:
            later += len(texts)
            repeated += sum(text in brought for text in texts)
        brought |= frozenset(texts)
    return repeated / later if later else None


def _in_end_order(hops: Sequence[Hop]) -> list[int]:
    return sorted(range(len(hops)), key=lambda index: hops[index].end_ns)


def _requirements(hops: Sequence[Hop]) -> int:
    numbers = {len(hop.requirements) for hop in hops}
    if len(numbers) > 1:
        raise ValueError(f"hops of one task differ in their requirements: {sorted(numbers)}")
    return max(numbers, default=0)
