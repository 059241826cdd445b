"""Vercel's AI SDK."""

import json
from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.dialects import Reading
from seer_otel.dialects.trace import node, resolve
from seer_otel.retrieval import Passage
from tests.dialects.spans import reading, span, texts

INNER = {"ai.operationId": "ai.rerank.doRerank"}
CANDIDATES = [json.dumps(text, ensure_ascii=False) for text in ("空", "Petra.", "Soup.")]


def place(index: Any, score: Any = 0.5) -> str:
    return json.dumps({"index": index, "relevanceScore": score})


def reranked(candidates: Any, ranking: Any, **fields: Any) -> Reading:
    return reading(INNER | {"ai.documents": candidates, "ai.ranking": ranking}, **fields)


def test_documents_are_in_the_order_of_the_ranking_with_its_scores() -> None:
    read = reranked(CANDIDATES, [place(2, 0.9), place(0, 0.4)])

    expected = (Passage("Soup.", score=0.9, rank=1), Passage("空", score=0.4, rank=2))
    assert ("vercel", "retrieval", None) == (read.dialect, read.state, read.query)
    assert expected == read.context


def test_documents_may_be_objects() -> None:
    candidates = ['{"id": "d1", "text": "a", "score": 0.1}', '{"subject": "no text"}']
    read = reranked(candidates, [place(0, 0.9), place(1)])

    assert (Passage("a", "d1", score=0.9, rank=1), Passage(None, score=0.5, rank=2)) == read.context


@pytest.mark.parametrize("index", [3, -1, 1.5, "x", None, True, 10**30])
def test_places_of_candidates_that_do_not_exist_are_left_out(index: Any) -> None:
    assert ["Petra."] == texts(reranked(CANDIDATES, [place(index), place(1)]))


def test_a_candidate_stands_at_its_first_place() -> None:
    read = reranked(CANDIDATES, [place(1, 0.9), place(0, 0.5), place(1, 0.1)])

    assert [("Petra.", 0.9), ("空", 0.5)] == [(p.text, p.score) for p in read.context]


def test_candidates_without_a_ranking_are_no_passages() -> None:
    outer = reading({"ai.operationId": "ai.rerank", "ai.documents": CANDIDATES})

    assert ("no_content", ()) == (outer.reason, outer.context)


@pytest.mark.parametrize(("candidates", "ranking"), [([], None), ([], []), (CANDIDATES, [])])
def test_an_empty_list_is_an_empty_result(candidates: Any, ranking: Any) -> None:
    assert "empty" == reranked(candidates, ranking).state
    assert "span_failed" == reranked(candidates, ranking, status_code=2).reason


@pytest.mark.parametrize(
    ("candidates", "ranking"),
    [
        (None, [place(0)]),
        ("x", [place(0)]),
        (CANDIDATES, "x"),
        (CANDIDATES, ["x", 12, None]),
        (CANDIDATES, [place(7)]),
    ],
)
def test_nothing_is_no_content(candidates: Any, ranking: Any) -> None:
    assert "no_content" == reranked(candidates, ranking).reason


@pytest.mark.parametrize(
    ("candidates", "ranking"),
    [(['"Petra, the mai', '"b"'], [place(1), place(0)]), (CANDIDATES, [place(1), '{"index": 1'])],
)
def test_a_cut_item_is_truncated(candidates: Any, ranking: Any) -> None:
    read = reranked(candidates, ranking)

    assert ("truncated", ()) == (read.reason, read.context)


def test_a_cut_candidate_that_was_not_chosen_is_no_loss() -> None:
    assert ["b"] == texts(reranked(['"Petra, the mai', '"b"'], [place(1)]))


def test_the_outer_span_is_nested_and_the_prompt_above_it_is_the_task() -> None:
    root = span(
        {
            "ai.operationId": "ai.generateText",
            "ai.prompt": '{"prompt": "Who?"}',
            "ai.telemetry.metadata.sessionId": "c-1",
        },
        span_id="0a" * 8,
    )
    documents = {"ai.documents": CANDIDATES}
    outer = span(
        {"ai.operationId": "ai.rerank"} | documents, span_id="0b" * 8, parent_span_id="0a" * 8
    )
    inner = span(
        INNER | documents | {"ai.ranking": [place(1)]}, span_id="0c" * 8, parent_span_id="0b" * 8
    )
    resolutions = resolve([node(inner), node(outer), node(root)]).resolutions

    assert "nested" == resolutions["0b" * 8].status
    judged = resolutions["0c" * 8]
    assert ("retrieval", "Who?", "c-1") == (judged.status, judged.task, judged.conversation_id)


@pytest.mark.parametrize(
    "operation", ["ai.toolCall", "ai.embed", "ai.generateText", "rerank", None, ["ai.rerank"]]
)
def test_other_operations_are_none(operation: Any) -> None:
    attributes = {"ai.operationId": operation, "ai.documents": CANDIDATES}

    assert dialects.read(span(attributes | {"ai.ranking": [place(1)]})) is None
