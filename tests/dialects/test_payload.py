"""Documents are cut or dropped from a span, and nothing else is touched."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seer_otel.dialects import otlp, trace, with_tools
from seer_otel.dialects.attach import shrink, wire
from seer_otel.dialects.attach.payload import CHARACTERS, DOCUMENTS

FIXTURES = Path(os.environ.get("SEER_FIXTURES") or Path(__file__).parents[1] / "data")
FILES = sorted((FIXTURES / "spans").glob("*.json"))
NAMED = with_tools(["search_docs", "lookup"])
LONG = "The passage that nobody is to read. " * 10


def retrievals(file: Path) -> Iterator[tuple[Span, list[str]]]:
    """The retrieval spans of a file, each with the texts of its passages."""
    traces = otlp.parse_json(file.read_text())
    raw = [s for r in traces.resource_spans for c in r.scope_spans for s in c.spans]
    for span, decoded in zip(raw, otlp.spans(traces), strict=True):
        reading = trace.node(decoded, NAMED).reading
        if reading is not None:
            yield span, [p.text for p in reading.context if p.text and len(p.text) > 16]


def written(text: str) -> list[bytes]:
    """A text as it may stand on a span: itself, or in JSON, or in JSON in JSON."""
    once = [text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
    return [form.encode() for form in (*once, *(json.dumps(each)[1:-1] for each in once))]


def attributes(span: bytes) -> dict[str, Any]:
    return otlp.decode_attributes(Span.FromString(span).attributes)


def span(**values: str | AnyValue) -> bytes:
    message = Span(trace_id=b"t" * 16, span_id=b"s" * 8, name="retrieval")
    for name, value in values.items():
        wrapped = value if isinstance(value, AnyValue) else AnyValue(string_value=value)
        message.attributes.append(KeyValue(key=name.replace("__", "."), value=wrapped))
    return message.SerializeToString()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_passage_of_any_instrumentation_is_left_when_they_are_dropped(file: Path) -> None:
    for before, texts in retrievals(file):
        after = shrink(before.SerializeToString(), "drop")

        for text in texts:
            assert [] == [form for form in written(text) if form in after]
        if texts:
            assert "dropped" == attributes(after)["seer.payload"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_long_passage_of_any_instrumentation_is_left_whole_when_they_are_cut(
    file: Path,
) -> None:
    for before, texts in retrievals(file):
        long = before.__class__.FromString(before.SerializeToString())
        _lengthen(long, texts)
        after = shrink(long.SerializeToString(), "cut")

        for text in texts:
            assert [] == [form for form in written(text * 20) if form in after]
        if long != before:
            assert "cut" == attributes(after)["seer.payload"]


def _lengthen(message: Any, texts: list[str]) -> None:
    """Make the passages of a span twenty times as long, wherever they stand in the open."""
    for holder in (message, *message.events):
        for attribute in holder.attributes:
            for text in texts:
                if text in attribute.value.string_value:
                    attribute.value.string_value = attribute.value.string_value.replace(
                        text, text * 20
                    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_no_document_stays_in_its_place_byte_for_byte(file: Path) -> None:
    for before, _ in retrievals(file):
        raw = before.SerializeToString() + b"\xa2\x06\x03new"  # a field of a later release
        kept = Span.FromString(shrink(raw, "drop"))
        names = [a.key for a in kept.attributes if a.key != "seer.payload"]

        assert b"\xa2\x06\x03new" in kept.SerializeToString()
        assert names == [a.key for a in before.attributes if a.key in names]
        del kept.attributes[:]
        del before.attributes[:]
        for one, other in zip(kept.events, before.events, strict=True):
            del one.attributes[:]
            del other.attributes[:]
        assert before.SerializeToString() + b"\xa2\x06\x03new" == kept.SerializeToString()


@pytest.mark.parametrize("payload", ["cut", "drop"])
def test_the_question_stays(payload: Any) -> None:
    question = "What is it that nobody is to read?"
    after = attributes(
        shrink(
            span(
                seer__task=question,
                seer__subquery=question,
                gen_ai__retrieval__query__text=question,
                input__value=json.dumps({"query": question}),
                seer__context=json.dumps([LONG]),
            ),
            payload,
        )
    )

    assert (question, question, question) == (
        after["seer.task"], after["seer.subquery"], after["gen_ai.retrieval.query.text"]
    )  # fmt: skip
    assert {"query": question} == json.loads(after["input.value"])


def test_documents_elsewhere_are_known_by_their_texts() -> None:
    after = attributes(
        shrink(
            span(
                output__value=json.dumps([{"text": LONG}]),
                some__vendor__input=json.dumps(json.dumps({"candidates": [LONG, "x"]})),
                some__vendor__list=AnyValue(
                    array_value=ArrayValue(values=[AnyValue(string_value=LONG)])
                ),
                model="m",
            ),
            "drop",
        )
    )

    assert {"model": "m", "seer.payload": "dropped"} == after


def test_a_cut_document_is_still_a_document() -> None:
    documents = [{"text": LONG, "id": "d1", "score": 0.5, "metadata": {"a": LONG}}, "short"]
    kinds = {
        "seer__context": AnyValue(string_value=json.dumps(documents)),
        "retrieval__documents__0__document__content": AnyValue(string_value=LONG),
        "output__value": AnyValue(string_value=json.dumps({"documents": [json.dumps([LONG])]})),
        "gen_ai__retrieval__documents": AnyValue(
            array_value=ArrayValue(
                values=[
                    AnyValue(
                        kvlist_value=KeyValueList(
                            values=[KeyValue(key="text", value=AnyValue(string_value=LONG))]
                        )
                    )
                ]
            )
        ),
        "ai__documents": AnyValue(bytes_value=LONG.encode()),
    }
    after = attributes(shrink(span(**kinds), "cut"))
    cut = LONG[:CHARACTERS] + "…"

    assert [
        {"text": cut, "id": "d1", "score": 0.5, "metadata": {"a": cut}},
        "short",
    ] == json.loads(after["seer.context"])
    assert cut == after["retrieval.documents.0.document.content"]
    assert [cut] == json.loads(json.loads(after["output.value"])["documents"][0])
    assert [{"text": cut}] == after["gen_ai.retrieval.documents"]
    assert LONG.encode()[:CHARACTERS] == after["ai.documents"]
    assert "cut" == after["seer.payload"]


@pytest.mark.parametrize("payload", ["keep", "cut", "drop"])
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        span(name="plain"),
        b"\x4a\xff",
        b"\x4a\x05\x0a\x03a\xff\xfe",
        span(seer__context="[]")[:-1],
        b"\x0b" * 3,
        b"\xff" * 20,
        b"\x4f",
    ],
    ids=["empty", "plain", "cut", "no text", "half", "open groups", "open number", "no kind"],
)
def test_what_holds_no_documents_or_cannot_be_read_goes_on_as_it_came(
    payload: Any, raw: bytes
) -> None:
    assert raw == shrink(raw, payload)


def test_short_documents_are_not_cut_and_nothing_is_said() -> None:
    raw = span(seer__context=json.dumps(["short"]))

    assert raw == shrink(raw, "cut")
    assert raw != shrink(raw, "drop")


def test_kept_is_kept() -> None:
    raw = span(seer__context=json.dumps([LONG]))

    assert raw == shrink(raw, "keep")


def test_a_group_in_a_span_is_passed_over() -> None:
    group = b"\xa3\x06\x08\x01\x12\x02hi\x13\x14\xa4\x06"
    raw = span(seer__context=json.dumps([LONG]))

    assert group in shrink(group + raw, "drop")
    assert LONG.encode() not in shrink(group + raw, "drop")


@given(st.binary(max_size=200), st.sampled_from(["cut", "drop"]))
def test_any_bytes_are_taken(raw: bytes, payload: Any) -> None:
    shrink(raw, payload)
    try:
        same = wire.replaced(raw, {})
    except ValueError:
        return

    assert raw == same


def test_every_key_is_written_as_it_is_meant() -> None:
    assert len(DOCUMENTS) == len(set(DOCUMENTS))
    for key in DOCUMENTS:
        after = shrink(span(**{key.replace(".", "__"): LONG, "a": "b"}), "drop")

        assert {"a": "b", "seer.payload": "dropped"} == attributes(after), key
