"""Whatever an application holds becomes items that every reader of `seer.context` understands."""

import json
import math
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest

from seer_otel.instrument import passages
from seer_otel.retrieval import Passage


class LangChainDocument:
    """Runs through its own fields when it is iterated, as the real one does."""

    def __init__(self, page_content: str, id: str | None = None, **metadata: object) -> None:
        self.page_content = page_content
        self.id = id
        self.metadata = metadata
        self.type = "Document"

    def __iter__(self) -> Iterator[tuple[str, object]]:
        yield from vars(self).items()


class LlamaIndexNode:
    def __init__(self, text: str, id_: str) -> None:
        self.text = text
        self.id_ = id_
        self.metadata = {"file": "a.txt"}

    @property
    def node_id(self) -> str:
        return self.id_

    def get_content(self) -> str:
        return self.text


class LlamaIndexNodeWithScore:
    def __init__(self, node: object, score: float | None) -> None:
        self.node = node
        self.score = score

    @property
    def text(self) -> str:
        raise ValueError("Node must be a TextNode to get text.")

    def get_content(self) -> str:
        content: Callable[[], str] = self.node.get_content  # type: ignore[attr-defined]
        return content()


@dataclass
class HaystackDocument:
    id: str
    content: str | None
    score: float | None = None
    meta: dict[str, object] = field(default_factory=dict)
    embedding: list[float] | None = None


class Scalar:
    """A number of numpy or torch."""

    shape = ()

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value

    def item(self) -> float:
        return self.value


class Unreadable:
    pass


def written(context: object) -> Any:
    return json.loads(passages.encoded(passages.listed(context)))


def test_texts_stay_texts() -> None:
    assert ["Tram 9 runs to the harbour.", ""] == written(["Tram 9 runs to the harbour.", ""])


def test_nothing_found_is_an_empty_list() -> None:
    assert [] == written([])


def test_one_text_or_document_is_a_list_of_one() -> None:
    assert ["alone"] == written("alone")
    assert [{"text": "alone"}] == written({"text": "alone"})
    assert [{"text": "alone", "id": "a"}] == written(LangChainDocument("alone", id="a"))


def test_what_can_be_run_through_once_is_run_through_once() -> None:
    texts = (text for text in ("a", "b"))

    assert ["a", "b"] == written(texts)
    assert [] == list(texts)


def test_dicts_keep_what_has_a_meaning() -> None:
    item = {
        "text": "Tram 9",
        "id": 9,
        "source": "wiki",
        "score": 0.5,
        "distance": 0.1,
        "rerank_score": "0.75",
        "rank": 1,
        "metadata": {"lang": "en"},
    }

    assert [item] == written([{**item, "embedding": [0.1] * 1536}])


@pytest.mark.parametrize("key", ["text", "content", "page_content", "document"])
def test_dicts_keep_their_text_under_its_own_key(key: str) -> None:
    assert [{key: "Tram 9"}] == written([{key: "Tram 9"}])


def test_pairs_are_a_document_and_its_score() -> None:
    pairs = [("plain", 0.9), (LangChainDocument("a", id="1"), Scalar(0.5)), ({"text": "b"}, 1)]

    assert [
        {"text": "plain", "score": 0.9},
        {"text": "a", "id": "1", "score": 0.5},
        {"text": "b", "score": 1},
    ] == written(pairs)


def test_documents_of_langchain() -> None:
    documents = [LangChainDocument("Tram 9", id="t9", lang="en", score=0.3)]

    assert [{"text": "Tram 9", "id": "t9", "metadata": {"lang": "en", "score": 0.3}}] == written(
        documents
    )


def test_nodes_of_llama_index() -> None:
    node = LlamaIndexNode("Tram 9", "n1")
    read = {"text": "Tram 9", "id": "n1", "metadata": {"file": "a.txt"}}

    assert [{**read, "score": 0.7}, read, read] == written(
        [LlamaIndexNodeWithScore(node, 0.7), LlamaIndexNodeWithScore(node, None), node]
    )


def test_documents_of_haystack_and_what_its_components_return() -> None:
    documents = [
        HaystackDocument("h1", "Tram 9", 4.8, {"lang": "en"}, [0.1, 0.2]),
        HaystackDocument("h2", None),
    ]
    read = [
        {"text": "Tram 9", "id": "h1", "score": 4.8, "metadata": {"lang": "en"}},
        {"id": "h2"},
    ]

    assert read == written(documents)
    assert read == written({"documents": documents})


def test_hits_that_wrap_a_document() -> None:
    assert [{"text": "a", "id": "1", "score": 0.5}] == written(
        [{"document": LangChainDocument("a", id="1"), "score": 0.5}]
    )


def test_passages_of_our_own() -> None:
    assert [{"text": "a", "id": "1", "distance": 0.2, "rank": 1}] == written(
        [Passage("a", id="1", distance=0.2, rank=1)]
    )


@pytest.mark.parametrize("score", [math.nan, math.inf, None, True, object()])
def test_a_score_that_is_no_number_is_missing(score: object) -> None:
    assert [{"text": "a", "score": None}] == written([{"text": "a", "score": score}])


def test_ids_become_texts_or_stay_numbers() -> None:
    identity = uuid.UUID(int=7)

    assert [{"id": str(identity)}, {"id": 7}, {"id": None}] == written(
        [{"id": identity}, {"id": 7}, {"id": True}]
    )


def test_what_holds_no_text_stays_in_its_place_and_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kind = f"{Unreadable.__module__}.Unreadable"

    assert ["a", {"unreadable": kind}, {"unreadable": kind}, "b"] == written(
        ["a", Unreadable(), Unreadable(), "b"]
    )
    assert [f"No text can be read from retrieved items of type {kind}"] == caplog.messages


def test_a_document_that_raises_is_unreadable() -> None:
    class Broken:
        text = None

        def get_content(self) -> str:
            raise RuntimeError("secret content")

    assert [{"unreadable": f"{Broken.__module__}.{Broken.__qualname__}"}] == written([Broken()])


def test_metadata_holds_what_json_can_say() -> None:
    endless: dict[str, object] = {}
    endless["self"] = endless
    metadata = {
        "date": date(2026, 11, 29),
        "nan": math.nan,
        "scalar": Scalar(0.5),
        "object": Unreadable(),
        "tags": ("a", "b"),
        7: "seven",
    }

    assert {
        "date": "2026-11-29",
        "nan": None,
        "scalar": 0.5,
        "object": None,
        "tags": ["a", "b"],
        "7": "seven",
    } == json.loads(passages.as_json(metadata))
    assert passages.as_json(endless).count("self") == 8


def test_halves_of_surrogate_pairs_do_not_stop_an_encoder() -> None:
    assert ["a�b", {"text": "Straße 鉄道"}] == written(["a\ud800b", {"text": "Straße 鉄道"}])
    assert "鉄" in passages.encoded(["鉄"])
