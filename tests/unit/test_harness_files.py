"""Files of spans and events, record by record."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from seer_otel.dialects import Span
from seer_otel.harness.files import BadRecord, read
from seer_otel.retrieval import Retrieval

FIXTURES = Path(os.environ.get("SEER_FIXTURES") or Path(__file__).parents[1] / "data")
SPANS = FIXTURES / "spans" / "seer-dialect.json"
EVENT = {"id": "q1", "task": "Who?", "context": ["t"]}


def record(value: Any) -> str:
    """One JSON value on one line."""
    return json.dumps(value)


def write(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "file.jsonl"
    path.write_bytes(b"\n".join(x.encode() if isinstance(x, str) else x for x in lines))
    return path


def shape(path: Path) -> list[Any]:
    """Span id, record id, or line of each record."""
    found: list[Any] = []
    for item in read(path):
        match item:
            case Span():
                found.append(("span", item.span_id[-1]))
            case Retrieval():
                found.append(("event", item.record_id))
            case BadRecord():
                found.append(("bad", item.line))
    return found


ALL_SPANS = [("span", str(n)) for n in range(1, 10)]


def test_a_body_may_be_spread_over_lines(tmp_path: Path) -> None:
    body = json.loads(SPANS.read_text())

    assert ALL_SPANS == shape(write(tmp_path, json.dumps(body, indent=2)))
    assert ALL_SPANS == shape(write(tmp_path, json.dumps(body)))
    assert ALL_SPANS == shape(write(tmp_path, "", "", json.dumps(body, indent=0)))


def test_lines_may_be_bodies_and_events(tmp_path: Path) -> None:
    body = record(json.loads(SPANS.read_text()))
    path = write(tmp_path, record(EVENT), "", body, record(EVENT | {"id": 2}))

    assert [("event", "q1"), *ALL_SPANS, ("event", "2")] == shape(path)


def test_a_list_of_events_will_do(tmp_path: Path) -> None:
    events = [EVENT, {"task": 3, "context": []}, EVENT | {"id": "q3"}]
    expected = [("event", "q1"), ("bad", 1), ("event", "q3")]

    assert expected == shape(write(tmp_path, json.dumps(events)))
    assert expected == shape(write(tmp_path, json.dumps(events, indent=2)))


def test_one_bad_record_stops_none_of_the_others(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        record(EVENT),
        '{"task": "cut',
        record(EVENT | {"context": 3}),
        b'{"task": "\xff"}',
        record({"id": "doc-1", "text": "a document of a corpus"}),
        record({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "xyz"}]}]}]}),
        "12",
        "[" * 50_000,
        record(EVENT | {"id": "q9"}),
    )

    expected = [("event", "q1"), *[("bad", n) for n in range(2, 9)], ("event", "q9")]
    assert expected == shape(path)


def test_one_bad_span_stops_none_of_its_body(tmp_path: Path) -> None:
    body = json.loads(SPANS.read_text())
    spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans[1]["name"] = 12

    assert len(ALL_SPANS) == len(shape(write(tmp_path, record(body))))
    assert [("bad", 1)] == [each for each in shape(write(tmp_path, record(body)))
                            if each not in ALL_SPANS]  # fmt: skip


def test_a_bad_first_record_stops_none_of_the_others(tmp_path: Path) -> None:
    path = write(tmp_path, '{"task": "cut', record(EVENT), record(EVENT))

    assert [("bad", 1), ("event", "q1"), ("event", "q1")] == shape(path)


def test_a_body_that_was_cut_is_one_bad_record(tmp_path: Path) -> None:
    body = json.dumps(json.loads(SPANS.read_text()), indent=1)

    assert [("bad", 1)] == shape(write(tmp_path, body[: len(body) // 2]))


def test_a_bad_record_says_where_and_why(tmp_path: Path) -> None:
    path = write(tmp_path, record(EVENT), record([EVENT, EVENT | {"task": 3}]))
    (bad,) = [item for item in read(path) if isinstance(item, BadRecord)]

    assert "file.jsonl:2: [1]: task is a number; expected a text" == str(bad)


def test_an_empty_file_is_no_json(tmp_path: Path) -> None:
    assert [("bad", 1)] == shape(write(tmp_path, " ", ""))


def test_a_byte_order_mark_is_no_part_of_the_first_record(tmp_path: Path) -> None:
    assert [("event", "q1")] == shape(write(tmp_path, b"\xef\xbb\xbf" + record(EVENT).encode()))


def test_a_labelled_question_is_an_event(tmp_path: Path) -> None:
    question = {
        "id": "q7",
        "source": "office",
        "task": "What does it cost?",
        "subqueries": [{"subquery": "price", "answer": "1", "gold_doc_ids": ["d1"]}],
        "context": [{"id": "d1", "text": "It costs 1.", "score": 9.086}],
        "ground_truth": {"gold_doc_ids": ["d1"], "answer": "1", "missing_gold": []},
    }
    (found,) = read(write(tmp_path, record(question)))

    assert isinstance(found, Retrieval)
    assert found.ground_truth is not None
    assert ("q7", ("d1",), "1") == (
        found.record_id,
        found.ground_truth.gold_doc_ids,
        found.ground_truth.answer,
    )


def test_a_dash_is_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "\n".join([record(EVENT), "{"]).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))

    event, bad = read("-")

    assert isinstance(event, Retrieval)
    assert isinstance(bad, BadRecord)
    assert ("<stdin>", 2) == (bad.file, bad.line)


def test_lines_are_read_as_they_are_needed(tmp_path: Path) -> None:
    path = write(tmp_path, record(EVENT), record(EVENT | {"id": "q2"}))
    records = read(path)
    next(records)
    with path.open("ab") as file:
        file.write(b"\n" + record(EVENT | {"id": "late"}).encode())

    assert 2 == len(list(records))


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(read(tmp_path / "nowhere.json"))
