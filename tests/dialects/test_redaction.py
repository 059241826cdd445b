"""What is taken out of the texts of spans, and what is not."""

import logging
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from seer_otel.dialects import Reader, Reading, Redaction, redaction_of, trace
from seer_otel.dialects.trace import Node
from seer_otel.errors import ConfigError
from seer_otel.retrieval import GroundTruth, Passage

MAIL = r"[\w.]+@[\w.]+"
SECRET = "ada@example.org"
TEXT = f"ask {SECRET} first"
READING = Reading(
    "seer",
    "retrieval",
    query=TEXT,
    context=(Passage(TEXT, id=SECRET), Passage("plain"), Passage(None)),
    task=TEXT,
    conversation_id=SECRET,
    is_final_context=True,
    sampled=True,
    sample_rate=0.5,
    ground_truth=GroundTruth((SECRET,), TEXT),
    metadata={"user": SECRET, "more": [{"deep": SECRET}, 3, None], "n": 1},
    surroundings={"env": SECRET},
    expected_outcome=TEXT,
    passages_dropped=2,
)
NODE = Node("a" * 32, "b" * 16, None, 1, 2, "retrieval", TEXT, reading=READING)
IDS = ("id", "conversation_id", "gold_doc_ids", "trace_id", "span_id", "record_id")


def texts(value: Any, field: str = "") -> list[str]:
    """Every text of a node, but for ids."""
    if field in IDS:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [t for inner in value.values() for t in texts(inner)]
    if isinstance(value, list | tuple):
        return [t for inner in value for t in texts(inner)]
    if hasattr(value, "__dataclass_fields__"):
        return [t for f in fields(value) for t in texts(getattr(value, f.name), f.name)]
    return []


def test_what_a_pattern_matches_is_in_no_text() -> None:
    node = Redaction([MAIL]).node(NODE)
    reading = node.reading

    assert "ask [redacted] first" == node.input
    assert [] == [text for text in texts(node) if SECRET in text]
    assert reading is not None
    assert 9 == sum("[redacted]" in text for text in texts(node))


def test_ids_and_everything_else_stay_as_they_are() -> None:
    node = Redaction([MAIL]).node(NODE)
    before, after = READING, node.reading

    assert after is not None
    assert (SECRET, SECRET, (SECRET,)) == (
        after.context[0].id,
        after.conversation_id,
        after.ground_truth.gold_doc_ids if after.ground_truth else None,
    )
    for name in ("dialect", "state", "is_final_context", "sampled", "sample_rate"):
        assert getattr(before, name) == getattr(after, name)
    assert (2, 3) == (after.passages_dropped, len(after.context))
    assert {"n": 1, "more": [{"deep": "[redacted]"}, 3, None], "user": "[redacted]"} == (
        after.metadata
    )


def test_patterns_come_first_and_then_the_function() -> None:
    heard = []

    def function(text: str) -> str:
        heard.append(text)
        return text.replace("[redacted]", "someone")

    assert "ask someone first" == Redaction([MAIL, "nobody"], function)(TEXT)
    assert ["ask [redacted] first"] == heard


@pytest.mark.parametrize("returned", [None, 3, b"bytes", ValueError(SECRET)])
def test_what_cannot_be_redacted_is_not_judged_and_nothing_of_it_stays(
    returned: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def function(_: str) -> Any:
        if isinstance(returned, Exception):
            raise returned
        return returned

    redaction = Redaction(function=function)
    node = redaction.node(NODE)
    redaction.node(NODE)

    assert [] == [text for text in texts(node) if "ada" in text or "plain" in text]
    assert node.reading is not None
    assert ("not_evaluable", "redacted") == (node.reading.state, node.reading.reason)
    assert (True, True, 0.5) == (
        node.reading.is_final_context,
        node.reading.sampled,
        node.reading.sample_rate,
    )
    assert "redacted" == trace.resolve([node]).resolutions[NODE.span_id].reason
    (line,) = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert SECRET not in line.getMessage()


def test_a_context_of_which_nothing_is_left_is_not_judged() -> None:
    node = Redaction(["(?s).+"], lambda text: text.replace("[redacted]", " ")).node(NODE)

    assert node.reading is not None
    assert ("not_evaluable", "redacted") == (node.reading.state, node.reading.reason)
    assert (None, None, True) == (node.input, node.reading.query, node.reading.query_redacted)


def test_an_empty_result_stays_one() -> None:
    empty = replace(NODE, reading=replace(READING, state="empty", context=()))
    node = Redaction([MAIL]).node(empty)

    assert node.reading is not None
    assert "empty" == node.reading.state


def test_texts_that_are_looked_up_are_redacted_too() -> None:
    reading = replace(READING, state="not_evaluable", reason="no_content",
                      context=(Passage(None, id="d1"), Passage(None, id="d2")))  # fmt: skip
    reader = Reader(redaction=Redaction([MAIL]))
    found = reader.with_texts(replace(NODE, reading=reading), {"d1": TEXT}).reading

    assert found is not None
    assert ["ask [redacted] first", None] == [passage.text for passage in found.context]


def test_a_function_is_imported_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "privacy_of_ours.py").write_text(
        "class Rules:\n    @staticmethod\n    def apply(text): return text.upper()\nRULES = 3\n"
    )
    (tmp_path / "broken_of_ours.py").write_text(f"raise RuntimeError({SECRET!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = redaction_of([], "privacy_of_ours:Rules.apply")

    assert found is not None
    assert "A" == found("a")
    assert redaction_of([], None) is None
    for name in (
        "privacy_of_ours:missing", "no_such_module_of_ours:f", "broken_of_ours:f",
        "privacy_of_ours:RULES",
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=f"redact.function: {name}") as error:
            redaction_of([], name)
        assert SECRET not in str(error.value)
