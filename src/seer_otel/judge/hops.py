"""What the judged retrievals of one trace show together: its hops."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from seer_otel.metrics import trace
from seer_otel.retrieval import Passage
from seer_otel.verdict import Evaluation, TraceScores, Verdict


@dataclass(frozen=True, slots=True)
class JudgedHop:
    """A retrieval of a trace with the evaluation of its task."""

    evaluation: Evaluation
    context: tuple[Passage, ...]
    end_ns: int
    span_id: str = ""
    is_final_context: bool = False

    @property
    def order(self) -> tuple[int, str]:
        """Hops are ordered by their end."""
        return self.end_ns, self.span_id

    @property
    def requirements(self) -> tuple[str, ...]:
        """Texts of the requirements it was judged against; empty where that failed."""
        judgement = self.evaluation.judgement
        return () if judgement is None else tuple(r.text for r in judgement.requirements)


def final(hops: Collection[JudgedHop]) -> JudgedHop | None:
    """
    Return the hop whose scores are the trace's; None where there are no hops.

    The last to end of those marked as the final context, else of all.
    """
    ordered = sorted(hops, key=lambda hop: hop.order)
    return trace.final_hop(ordered) if ordered else None


def new_requirements(hops: Collection[JudgedHop], hop: JudgedHop) -> tuple[int, ...] | None:
    """
    Return the requirements, from 1, that a hop is the first of the trace to support.

    Only hops that were judged against the same requirements are compared. None where the hop's
    own judgement failed.
    """
    compared = _comparable(hops, hop)
    if not compared:
        return None
    return trace.new_requirements([_hop(one) for one in compared])[compared.index(hop)]


def with_new_requirements(verdict: Verdict, new: tuple[int, ...] | None) -> Verdict:
    """Say in the evaluation of the task which requirements are new."""
    return Verdict(
        tuple(
            replace(e, new_requirements=new) if e.scope == "task" else e
            for e in verdict.evaluations
        )
    )


def trace_evaluation(
    hops: Collection[JudgedHop], last: JudgedHop, *, supersedes: str | None = None
) -> Evaluation:
    """
    Return the result of the trace: the final hop's scores against the task, and all hops' own.

    Args:
        hops: Those of the trace, the final one included.
        last: The final one.
        supersedes: Span id of the final context whose result this one replaces.
    """
    compared = [_hop(hop) for hop in _comparable(hops, last)]
    scores = TraceScores(
        cumulative_recall=trace.cumulative_recall(compared),
        redundancy=trace.redundancy(compared),
        supersedes=supersedes,
    )
    return replace(
        last.evaluation, scope="trace", trace=scores, ground_truth=None, new_requirements=None
    )


def _comparable(hops: Collection[JudgedHop], reference: JudgedHop) -> list[JudgedHop]:
    """Return the hops that were judged against the same requirements, in the order they ended."""
    if reference.evaluation.judgement is None:
        return []
    return sorted(
        (
            hop
            for hop in hops
            if hop.evaluation.judgement is not None and hop.requirements == reference.requirements
        ),
        key=lambda hop: hop.order,
    )


def _hop(judged: JudgedHop) -> trace.Hop:
    judgement = judged.evaluation.judgement
    assert judgement is not None
    return trace.Hop(
        context=judged.context,
        requirements=[requirement.passages for requirement in judgement.requirements],
        end_ns=judged.end_ns,
        is_final_context=judged.is_final_context,
    )
