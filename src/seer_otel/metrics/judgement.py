"""Scores of one judgement: one query against one context."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from seer_otel.metrics.documents import documents, supporting
from seer_otel.metrics.ranking import average_precision, ndcg, ranked
from seer_otel.retrieval import Passage
from seer_otel.verdict import Ranking, Scores

VerdictLabel = Literal["complete", "partial", "none", "not_applicable"]

NOTHING_NEEDED: Final = "the query needs no retrieval"
NOTHING_FETCHED: Final = "the context is empty"
NO_RANKING: Final[Mapping[Ranking, str]] = {
    "absent": "nothing says in which order the passages stand",
    "partial": "only some of the passages have a rank or a score",
}

_SCORES: Final = ("recall", "precision", "f1", "ndcg", "contextual_precision")


def score(
    context: Sequence[Passage],
    requirements: Sequence[Collection[int]],
    *,
    list_is_ranked: bool = False,
) -> Scores:
    """
    Score one judgement.

    Args:
        context: The items in the order given.
        requirements: For each requirement of the query the positions that support it, from 1 in
            the order given. Empty: the query needs no retrieval.
        list_is_ranked: Whether the convention of the span says that the list is in rank order.
    """
    ranking, order = ranked(context, list_is_ranked=list_is_ranked)
    if not requirements:
        return Scores(ranking=ranking, absent=dict.fromkeys(_SCORES, NOTHING_NEEDED))
    fetched = documents(context)
    passages = sum(text is not None for text in fetched)
    if not passages:
        absent = dict.fromkeys(_SCORES[1:], NOTHING_FETCHED)
        return Scores(recall=0.0, ranking=ranking, absent=absent)

    support = supporting(fetched, requirements)
    evidence = frozenset().union(*support)
    recall = sum(map(bool, support)) / len(requirements)
    precision = len(evidence) / passages
    f1 = 2 * precision * recall / (precision + recall) if evidence else 0.0
    if ranking in NO_RANKING:
        absent = dict.fromkeys(("ndcg", "contextual_precision"), NO_RANKING[ranking])
        return Scores(recall, precision, f1, ranking=ranking, absent=absent)

    texts = [fetched[n - 1] for n in order]
    relevant = [text in evidence and texts.index(text) == above for above, text in enumerate(texts)]
    return Scores(recall, precision, f1, ndcg(relevant), average_precision(relevant), ranking)


def cited(context: Sequence[Passage], requirements: Sequence[Collection[int]]) -> tuple[int, ...]:
    """
    Return the positions of the cited documents, from 1, ascending, every copy included.

    A citation of an unreadable or non-existent passage counts for nothing.
    """
    fetched = documents(context)
    texts = frozenset().union(*supporting(fetched, requirements))
    return tuple(n for n, text in enumerate(fetched, start=1) if text in texts)


def verdict_label(scores: Scores) -> VerdictLabel:
    """Return what the scores say in one word, by recall; not for a failed judgement."""
    if scores.recall is None:
        return "not_applicable"
    if scores.recall == 1.0:
        return "complete"
    return "partial" if scores.recall else "none"
