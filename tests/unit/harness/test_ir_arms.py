"""What an arm may be, and what its lists are."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seer_otel.errors import ConfigError
from seer_otel.harness.ir import arms, retrievers, run_files
from seer_otel.harness.ir.eval_set import Document, load
from seer_otel.harness.ir.run_files import Hit
from tests.unit.harness.eval_sets import eval_set

AB = [Document("A", "An error in the disk."), Document("B", "The fan is loud.")]


@pytest.fixture
def my_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a file for a module that stands in the working directory."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "my_search.py"
    sys.modules.pop("my_search", None)


@pytest.mark.parametrize("query", ["error", "Error", "ERROR"])
def test_a_term_of_one_of_two_documents_ranks_it_first(query: str) -> None:
    (hit,) = retrievers.bm25(AB)(query, 10)

    assert "A" == hit.id
    assert hit.score > 0


@pytest.mark.parametrize("query", ["", "the", "zebra", "?!"])
def test_without_a_word_in_common_nothing_is_returned(query: str) -> None:
    assert [] == list(retrievers.bm25(AB)(query, 10))


def test_a_corpus_without_words_is_searched_in_vain() -> None:
    assert [] == list(retrievers.bm25([Document("A", "…")])("disk", 10))


def test_dense_ranks_all_by_their_cosine() -> None:
    first, second = retrievers.dense(AB)("broken hard drive", 10)

    assert ("A", "B") == (first.id, second.id)
    assert 1 >= first.score > second.score >= -1


def test_a_text_without_words_has_no_direction() -> None:
    assert [0.0, 0.0] == [hit.score for hit in retrievers.dense(AB)("", 10)]


def test_fusion_adds_reciprocal_ranks() -> None:
    lists = [[Hit("A", 9.0), Hit("B", 8.0)], [Hit("C", 0.1), Hit("A", 0.1)]]

    found = retrievers.fused(lists, 10)

    assert ["A", "C", "B"] == [hit.id for hit in found]
    assert [1 / 61 + 1 / 62, 1 / 61, 1 / 62] == pytest.approx([hit.score for hit in found])
    assert ["A"] == [hit.id for hit in retrievers.fused(lists, 1)]


def test_a_copy_in_one_list_is_no_vote() -> None:
    (hit,) = retrievers.fused([[Hit("A"), Hit("A")]], 10)

    assert pytest.approx(1 / 61) == hit.score


@pytest.mark.parametrize(
    "code",
    [
        "def search(query, k): return [('B', 0.5), ('A', 0.25)][:k]",
        "def search(query, k, *, deep=1): return [{'id': 'B', 'score': .5}, {'doc_id': 'A'}]",
        "def search(corpus): return lambda query, k: [d.id for d in reversed(corpus)]",
    ],
)
def test_a_function_is_an_arm(code: str, my_search: Path) -> None:
    my_search.write_text(code)
    found = load(eval_set(my_search.parent, {"A": "x", "B": "y"}, {"q": "?"}, {"q": ["A"]}))
    (arm,) = arms.retrieve(arms.specs(["mine=my_search:search"]), found, 10)

    assert ("mine", ["B", "A"]) == (arm.name, arm.ids("q"))


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("", "has no attribute 'search'"),
        ("import nowhere_to_be_found", "No module named 'nowhere_to_be_found'"),
        ("def search(): ...", "takes the corpus"),
        ("search = 3", "is no function"),
        ("def search(query, k): return [3.5]", "a search returns"),
    ],
)
def test_a_function_that_will_not_do_says_why(code: str, says: str, my_search: Path) -> None:
    my_search.write_text(code)
    found = load(eval_set(my_search.parent, {"A": "x"}, {"q": "?"}, {"q": ["A"]}))

    with pytest.raises(ConfigError, match=says):
        arms.retrieve(arms.specs(["my_search:search"]), found, 10)


def test_a_hybrid_brings_its_parts_along() -> None:
    assert ["bm25", "dense", "hybrid"] == [each.name for each in arms.specs([])]
    assert ["bm25", "dense", "hybrid"] == [each.name for each in arms.specs(["hybrid"])]
    assert ["a:b", "bm25", "hybrid"] == [each.name for each in arms.specs(["hybrid", "a:b"])]
    assert ["a:b", "c:d", "hybrid"] == [each.name for each in arms.specs(["hybrid", "a:b", "c:d"])]


@pytest.mark.parametrize("wanted", [["nonsense"], ["runs/none.trec"], ["bm25", "bm25"]])
def test_what_is_no_arm_is_refused(wanted: list[str]) -> None:
    with pytest.raises(ConfigError, match="arm"):
        arms.specs(wanted)


@pytest.mark.parametrize(
    "text",
    [
        "q Q0 B 1 0.5 tag\nq Q0 A 2 0.25 tag\n",
        "q Q0 A 1 0.25 tag\nq Q0 B 2 0.5 tag\n",
        '{"query_id": "q", "hits": ["B", "A"]}',
        '{"qid": "q", "results": [{"doc_id": "B", "score": 0.5}, {"id": "A"}]}',
        '{"query_id": "q", "hits": [["B", 0.5], ["A", 0.25]]}',
        '{"query_id": "q", "hits": {"A": 0.25, "B": 0.5}}',
        '{"query_id": "q", "doc_id": "A", "rank": 2}\n{"query_id": "q", "doc_id": "B", "rank": 1}',
        '{"query-id": "q", "corpus-id": "A", "score": 1}\n'
        '{"query-id": "q", "corpus-id": "B", "score": 2}',
        '{"query_id": "q", "id": "A", "distance": 0.9}\n'
        '{"query_id": "q", "id": "B", "distance": 0.1}',
        '{"q": {"A": 0.25, "B": 0.5}}',
        '{"q": ["B", "A"]}',
        '[{"query_id": "q", "hits": ["B", "A"]}]',
    ],
)
def test_a_run_file_in_any_common_form(text: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text(text)

    assert {"q": ["B", "A"]} == {
        query: [hit.id for hit in hits] for query, hits in run_files.read(path).items()
    }


def test_ties_in_a_trec_run_are_broken_as_trec_eval_does(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q Q0 A 1 1 tag\nq Q0 C 2 1 tag\nq Q0 B 3 1 tag\n")

    assert ["C", "B", "A"] == [hit.id for hit in run_files.read(path)["q"]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("q Q0 A 1 high tag", "line 1: expected query, Q0"),
        ('{"query_id": "q", "hits": ["A"]}\n{"query_id"', "line 2: this is no JSON"),
        ('{"hits": 1, "query_id": "q"}', "hits are a list"),
        ('{"query_id": "q", "hits": [null]}', "a hit is an id"),
        ('{"query_id": "q"}', "neither hits nor a doc_id"),
        ('{"q": {"A": 1}, "query": null}\n{"hits": []}', "no query_id"),
    ],
)
def test_a_run_file_that_cannot_be_read_says_where(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text(text)

    with pytest.raises(ConfigError, match=says):
        run_files.read(path)


def test_a_run_of_other_queries_is_refused(tmp_path: Path) -> None:
    found = load(eval_set(tmp_path, {"A": "x"}, {"q": "?"}, {"q": ["A"]}))
    path = tmp_path / "other.trec"
    path.write_text("other Q0 A 1 1 tag")

    with pytest.raises(ConfigError, match="none of the queries' ids"):
        arms.retrieve(arms.specs([str(path)]), found, 10)
