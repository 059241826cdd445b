"""OpenLIT's spans of LangChain retrievers and of vector stores."""

import json
from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.dialects import Reading
from seer_otel.retrieval import Passage
from tests.dialects.spans import reading, span, texts

ASKED = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "Who?"}
LANGCHAIN = "openlit.instrumentation.langchain"


def retriever(*documents: Any, **attributes: Any) -> Reading:
    listed = {"gen_ai.retrieval.documents": json.dumps(documents)} if documents else {}
    counted = {f"gen_ai.retrieval.{key}": value for key, value in attributes.items()}
    return reading(ASKED | listed | counted, scope_name=LANGCHAIN)


def store(asked: Any, **attributes: Any) -> Reading:
    operation = {"gen_ai.operation.name": "vectordb", "db.operation.name": "GET"}
    return reading(operation | {"db.query.text": asked} | attributes)


def test_the_first_documents_are_judged_and_the_others_are_counted() -> None:
    documents = [
        {"content": "甲。", "id": "a.md"},
        {"content": "b", "id": "a.md"},
        {"content": "c"},
    ]
    read = retriever(*documents, document_count=20)

    expected = (Passage("甲。", "a.md", rank=1), Passage("b", "a.md", rank=2), Passage("c", rank=3))
    assert ("openlit", "retrieval", "Who?") == (read.dialect, read.state, read.query)
    assert (expected, 17) == (read.context, read.passages_dropped)


@pytest.mark.parametrize("count", [2, 1, "2", None, "many"])
def test_nothing_is_left_out_where_the_count_says_so_or_nothing(count: Any) -> None:
    assert 0 == retriever({"content": "a"}, {"content": "b"}, document_count=count).passages_dropped


def test_texts_that_were_cut_are_marked() -> None:
    read = retriever({"content": "Petra, the main..."}, {"content": "Whole."}, {"content": " ..."})

    assert [True, False, True] == [passage.truncated for passage in read.context]
    assert ["Petra, the main...", "Whole.", " ..."] == texts(read)


@pytest.mark.parametrize("count", [0, "0"])
def test_a_count_of_0_is_an_empty_result(count: Any) -> None:
    read = retriever(document_count=count)

    assert ("empty", 0) == (read.state, read.passages_dropped)


def test_content_that_is_not_captured_is_no_content() -> None:
    read = retriever(document_count=4)

    assert ("no_content", 0) == (read.reason, read.passages_dropped)


def test_a_cut_list_is_truncated() -> None:
    attributes = ASKED | {"gen_ai.retrieval.documents": '[{"content": "Petra, the'}

    assert "truncated" == reading(attributes, scope_name=LANGCHAIN).reason


def test_a_failed_retriever_has_failed() -> None:
    assert "span_failed" == reading(ASKED, scope_name=LANGCHAIN, status_code=2).reason


def test_the_same_attributes_in_another_scope_are_the_convention() -> None:
    assert "genai" == reading(ASKED, scope_name="my.openlit.app").dialect


def test_a_query_of_a_store_has_no_content() -> None:
    read = store("texts=['Who led it?']", **{"db.response.returned_rows": 3})

    assert ("openlit", "no_content", "Who led it?") == (read.dialect, read.reason, read.query)


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ('texts=["Who\'s there?"]', "Who's there?"),
        ("texts=['Кто?']", "Кто?"),
        ("texts=('Who?',)", "Who?"),
        ("texts=Who led it?", "Who led it?"),
        ("texts=['__REDACTED__']", None),
        ("texts=['Who led", None),
        ("texts=[]", None),
        ("texts=", None),
        ("texts=[open('x')]", None),
        ("embeddings=1 vectors", None),
        ("embeddings=", None),
    ],
)
def test_the_query_of_a_store_is_in_pythons_notation(asked: str, query: str | None) -> None:
    assert query == store(asked).query


@pytest.mark.parametrize("asked", ["texts=['Who?', 'When?']", "embeddings=2 vectors"])
def test_several_queries_are_told(asked: str) -> None:
    read = store(asked)

    assert ("multiple_queries", None) == (read.reason, read.query)


@pytest.mark.parametrize(
    "asked", ["['quill-001']", "PEEK limit=3", "no query provided", "", None, 12, ["texts=['a']"]]
)
def test_other_operations_of_stores_are_none(asked: Any) -> None:
    attributes = {"gen_ai.operation.name": "vectordb", "db.query.text": asked}

    assert dialects.read(span(attributes)) is None
