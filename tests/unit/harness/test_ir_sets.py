"""How evaluation sets are read, and that changes to frozen ones are told."""

from pathlib import Path

import pytest

from seer_otel.errors import ConfigError
from seer_otel.harness.ir import lock
from seer_otel.harness.ir.eval_set import load
from tests.unit.harness.eval_sets import Record, eval_set, qrels

ABC = {"A": "alpha", "B": "beta", "C": "gamma"}


def test_a_set_in_the_layout_of_beir(tmp_path: Path) -> None:
    folder = eval_set(
        tmp_path, {"1": {"title": "T", "text": "x"}}, {"q": "?"}, {"q": ["1", "gone"]}
    )
    found = load(folder)

    assert "T\nx" == found.documents[0].content
    assert ["relevant"] == [level.name for level in found.levels]
    assert {"q": {"1"}} == found.levels[0].right
    assert {"q": {"1", "gone"}} == found.levels[0].wanted


def test_a_file_a_level_the_one_with_fewer_right_documents_is_stricter(tmp_path: Path) -> None:
    eval_set(tmp_path, ABC, {"q": "?"})
    qrels(tmp_path / "qrels" / "any.tsv", {"q": ["A", "B"]})
    qrels(tmp_path / "qrels" / "exact.tsv", {"q": ["A"]})

    assert ["exact", "any"] == [level.name for level in load(tmp_path).levels]
    assert ["any"] == [level.name for level in load(tmp_path, ["any"]).levels]
    assert ["any", "exact"] == [level.name for level in load(tmp_path, ["any", "exact"]).levels]


def test_labels_are_matched_id_to_id_and_may_be_several(tmp_path: Path) -> None:
    documents: dict[str, Record] = {
        "A": {"text": "x", "labels": {"cause": ["disk", "fan"]}},
        "B": {"text": "y", "labels": {"cause": "fan"}},
        "C": {"text": "z"},
    }
    queries: dict[str, Record] = {
        "one": {"text": "?", "labels": {"cause": ["fan"]}},
        "several": {"text": "!", "metadata": {"labels": {"cause": ["disk", "net"]}}},
        "none": {"text": ".", "labels": {"cause": []}},
    }
    (level,) = load(eval_set(tmp_path, documents, queries)).levels

    assert {"one": {"A", "B"}, "several": {"A"}} == level.right
    assert {"disk", "net"} == level.wanted["several"]
    assert {"disk", "fan"} == level.labels_of("A")
    assert not level.labels_of("C")


@pytest.mark.parametrize("nested", [True, False])
def test_labels_may_be_fields_of_both_where_there_are_none_else(
    nested: bool, tmp_path: Path
) -> None:
    def record(**fields: object) -> Record:
        return {"text": "x", **({"metadata": fields} if nested else fields)}

    documents = {"A": record(cause="disk", year=1), "B": record(cause="fan", year=2)}
    queries = {"q": record(cause=["disk"], year=9), "r": record(cause=[])}
    (level,) = load(eval_set(tmp_path, documents, queries)).levels

    assert "cause" == level.name
    assert {"q": {"A"}} == level.right


def test_scores_of_nothing_and_trecs_columns_are_read(tmp_path: Path) -> None:
    eval_set(tmp_path, ABC, {"q": "?", "r": "!"})
    (tmp_path / "qrels.tsv").write_text("q 0 A 2\nq 0 B 0\nr 0 C -1\n")
    (level,) = load(tmp_path).levels

    assert {"q": {"A"}} == level.right
    assert {"q", "r"} == level.wanted.keys()


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("corpus.jsonl", None, "corpus.jsonl: cannot be read"),
        ("corpus.jsonl", "", "is empty"),
        ("corpus.jsonl", '{"_id": "A", "text": "x"}\n{"_id"', "line 2: this is no JSON"),
        ("corpus.jsonl", '{"_id": "A"}', "line 1: there is no text"),
        ("corpus.jsonl", '{"text": "x"}', "line 1: there is no _id"),
        ("corpus.jsonl", '{"_id": "A", "text": "x"}\n' * 2, "'A' is there 2 times"),
        ("queries.jsonl", '{"_id": "q", "text": " "}', "line 1: there is no text"),
        ("queries.jsonl", '{"_id": "q", "text": "x", "labels": ["a"]}', "a level each"),
        ("qrels.tsv", "q\tA\t1\nq\tA\n", "line 2: expected query id, document id, score"),
        ("qrels.tsv", None, "nothing says which documents are right"),
    ],
)
def test_what_cannot_be_read_says_where(
    file: str, text: str | None, says: str, tmp_path: Path
) -> None:
    eval_set(tmp_path, ABC, {"q": "?"}, {"q": ["A"]})
    if text is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(text)

    with pytest.raises(ConfigError, match=says):
        load(tmp_path)


def test_parts_of_a_set_are_no_levels(tmp_path: Path) -> None:
    eval_set(tmp_path, ABC, {"q": "?", "r": "!"})
    qrels(tmp_path / "qrels" / "train.tsv", {"q": ["A"]})
    qrels(tmp_path / "qrels" / "test.tsv", {"r": ["A"]})

    with pytest.raises(ConfigError, match="--levels test"):
        load(tmp_path)
    assert ["test"] == [level.name for level in load(tmp_path, ["test"]).levels]


def test_changes_to_a_frozen_set_are_told(tmp_path: Path) -> None:
    eval_set(tmp_path, ABC, {"q": "?"}, {"q": ["A"]})
    never = lock.state(tmp_path)
    lock.freeze(tmp_path)
    frozen = lock.state(tmp_path)
    qrels(tmp_path / "qrels.tsv", {"q": ["B"]})
    qrels(tmp_path / "qrels" / "more.tsv", {"q": ["B"]})
    changed = lock.state(tmp_path)

    assert (False, ()) == (never.frozen, never.changed)
    assert (True, (), never.digest) == (frozen.frozen, frozen.changed, frozen.digest)
    assert ("qrels.tsv", "qrels/more.tsv") == changed.changed
    assert frozen.digest != changed.digest


def test_a_broken_lock_is_told(tmp_path: Path) -> None:
    eval_set(tmp_path, ABC, {"q": "?"}, {"q": ["A"]})
    (tmp_path / lock.LOCK).write_text("[]")

    with pytest.raises(ConfigError, match="freeze"):
        lock.state(tmp_path)
