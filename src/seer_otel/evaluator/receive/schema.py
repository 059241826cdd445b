"""The JSON of retrieval events as clients write it: what is taken, and what is said of the rest."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from seer_otel.dialects import record_ids
from seer_otel.dialects.event import time_ns
from seer_otel.dialects.values import text
from seer_otel.errors import Undecodable
from seer_otel.evaluator.receive.faults import Fault, checked

MAX_EVENTS: Final = 1_000
"""Events in one batch."""
_TAGS: Final = ("a text", "an object")
_RECORD: Final = "[A-Za-z0-9._~:@-]{1,200}"
_TRACE: Final = "(?!0{32})[0-9a-fA-F]{32}"
_SPAN: Final = "(?!0{16})[0-9a-fA-F]{16}"


def _only(words: str, *kinds: type) -> BeforeValidator:
    """Take values of some kinds, for a union would list what is wrong kind by kind."""

    def check(value: object) -> object:
        if value is not None and (isinstance(value, bool) or not isinstance(value, kinds)):
            raise ValueError(f"expected {words}")
        return value

    return BeforeValidator(check)


def _like(pattern: str, words: str) -> AfterValidator:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"expected {words}")
        return value

    return AfterValidator(check)


def _time(value: object) -> object:
    try:
        time_ns(value)
    except Undecodable:
        raise ValueError(
            "expected a time like 2026-11-29T12:00:00Z, or seconds since 1970"
        ) from None
    return value


def _of_no_span(value: str) -> str:
    if record_ids.ids_of_span(value):
        raise ValueError("ids of this form are those of spans")
    return value


def _kind(item: object) -> str | None:
    if isinstance(item, str):
        return _TAGS[0]
    return _TAGS[1] if isinstance(item, Mapping | Passage) else None


_Number = Annotated[int | float | str | None, _only("a number", int, float, str)]
_Id = Annotated[int | float | str, _only("a text or a number", int, float, str)]
_Record = Annotated[
    str,
    _like(_RECORD, "up to 200 letters, digits and ._~:@-"),
    AfterValidator(_of_no_span),
    Field(json_schema_extra={"pattern": f"^{_RECORD}$"}),
]
_Trace = Annotated[
    str,
    _like(_TRACE, "32 hexadecimal digits, not all 0"),
    Field(json_schema_extra={"pattern": f"^{_TRACE}$"}),
]
_Span = Annotated[
    str,
    _like(_SPAN, "16 hexadecimal digits, not all 0"),
    Field(json_schema_extra={"pattern": f"^{_SPAN}$"}),
]


_Time = Annotated[
    int | float | str | None,
    BeforeValidator(_time),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "string", "format": "date-time"}, {"type": "null"}]}
    ),
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class Passage(_Model):
    """One item of a context."""

    text: str | None
    """Null, or blank: it keeps its place, and is counted as unreadable."""
    id: _Id | None = None
    source: str | None = None
    score: _Number = None
    """The retriever's relevance score; higher is better."""
    distance: _Number = None
    """The retriever's distance; lower is better."""
    rerank_score: _Number = None
    """A reranker's score; higher is better."""
    rank: _Number = None
    """1 is the top. The order of passages is taken from the first of rank, rerank_score, score and
    distance that all of them have."""
    metadata: dict[str, Any] | None = None


class GroundTruth(_Model):
    """Labels. The judge never sees them."""

    gold_doc_ids: list[_Id] | None = None
    """Ids of the passages that are right."""
    answer: str | None = None


_Item = Annotated[
    Annotated[str, Tag(_TAGS[0])] | Annotated[Passage, Tag(_TAGS[1])],
    Discriminator(
        _kind,
        custom_error_type="item",
        custom_error_message='expected a text, or an object like {"text": …}',
    ),
]


def _asking(field: str) -> dict[str, Any]:
    return {"required": [field], "properties": {field: {"type": "string", "pattern": r"\S"}}}


class Event(_Model):
    """One retrieval: what was asked, and what was found. It needs a task or a subquery."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [_asking("task"), _asking("subquery")]},
    )

    task: str | None = None
    """The user's question, the same for every retrieval of the request. Blank counts as absent."""
    subquery: str | None = None
    """What this retrieval was to answer, where that is not the task itself."""
    context: list[_Item]
    """
    What was found, in the order given; [] where nothing was. One call of the judge takes 50
    passages of 4,000 characters; more are judged in several. Beyond the configured hard limits (500
    passages, 32,000 characters each) the surplus is left out, and the verdict counts it.
    """
    is_final_context: bool | None = None
    """Whether the answer is written from this context."""
    metadata: dict[str, Any] | None = None
    """For filters and comparisons: env, user_id, model, index, anything."""
    ground_truth: GroundTruth | None = None
    conversation_id: str | None = None
    expected_outcome: str | None = None
    """What the conversation should lead to."""
    trace_id: _Trace | None = None
    """Without it the event is a trace of its own."""
    span_id: _Span | None = None
    """The span that it was logged in, under which its results go; needs trace_id."""
    parent_span_id: _Span | None = None
    """Without span_id: the span above the one that is made of the event; needs trace_id."""
    span_name: str | None = None
    created_at: _Time = None
    """A date such as 2026-11-29T12:00:00Z, or seconds since 1970; now, unless given."""
    sample_rate: Annotated[float | None, Field(ge=0, le=1)] = None
    """Share of traces to judge, in place of the configured one. /v1/evaluate judges all."""
    record_id: _Record | None = None
    """Names this event: sent again under the same id it is judged once. Best made by the client."""

    @field_validator("span_id", "parent_span_id")
    @classmethod
    def _in_a_trace(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("trace_id", "wrong") is None:
            raise ValueError("needs the trace_id that it belongs to")
        return value

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if text(self.task) is None and text(self.subquery) is None:
            raise ValueError("neither task nor subquery says what was asked")
        return self


class Batch(_Model):
    """Several events; one that will not do hinders none of the others."""

    events: Annotated[list[Event], Field(max_length=MAX_EVENTS)]


class _Unchecked(_Model):
    """A batch whose events are checked each for itself."""

    events: Annotated[list[Any], Field(max_length=MAX_EVENTS)]


class Receipt(_Model):
    """What became of an event. Accepted: it is on disk, or was not sampled."""

    record_id: str | None = None
    """Absent where the event was not accepted, and has none that could be read."""
    accepted: bool
    sampled: bool
    """Whether it is judged."""
    errors: list[Fault] | None = None
    """Where not accepted: why."""


class BatchReceipt(_Model):
    """What became of each event, in the order given."""

    results: list[Receipt]


class Pending(_Model):
    """A record that is to come."""

    record_id: str
    evaluated: Literal["pending"] = "pending"


class Refusal(_Model):
    """Why a request was not taken."""

    message: str
    errors: list[Fault] | None = None


def event_of(body: object) -> dict[str, Any]:
    """
    Check an event; return its fields, less those that are null.

    Raises:
        Invalid: It is no event; says of each field what would do.
    """
    return checked(Event, body).model_dump(exclude_none=True)


def events_of(body: object) -> list[Any]:
    """
    Return the events of a batch, none of them checked yet.

    Raises:
        Invalid: It is no batch.
    """
    return checked(_Unchecked, body).events
