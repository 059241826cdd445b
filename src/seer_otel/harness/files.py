"""Files of spans and of retrieval events, record by record."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from seer_otel.dialects import otlp
from seer_otel.dialects.conversation import conversation_from_event, is_conversation
from seer_otel.dialects.event import retrieval_from_event
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import parse_json
from seer_otel.errors import Undecodable
from seer_otel.retrieval import Conversation, Retrieval

STDIN: Final = "-"
"""The path that stands for the standard input."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """One record of a file that cannot be read, and why."""

    file: str
    line: int
    """From 1; of a record that takes several lines, the first."""
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def read(path: str | Path) -> Iterator[Span | Retrieval | Conversation | BadRecord]:
    """
    Read the spans and the events of a file; see `bodies`.

    Raises:
        OSError: The file cannot be opened.
    """
    for record in bodies(path):
        if isinstance(record, TracesData):
            yield from otlp.spans(record)
        else:
            yield record


def bodies(path: str | Path) -> Iterator[TracesData | Retrieval | Conversation | BadRecord]:
    """
    Read a file: a body of OTLP/JSON, or lines of such bodies, of events and of conversations.

    A list of events, in one JSON value over any number of lines, will do as well. One bad record
    stops none of the others. Lines are read as they are needed.

    Raises:
        OSError: The file cannot be opened.
    """
    name = "<stdin>" if str(path) == STDIN else Path(path).name
    with _opened(path) as lines:
        for line, value in _values(lines):
            for record in _records(value):
                yield BadRecord(name, line, record) if isinstance(record, str) else record


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    if str(path) == STDIN:
        yield sys.stdin.buffer
    else:
        with Path(path).open("rb") as file:
            yield file


def _values(lines: Iterable[bytes]) -> Iterator[tuple[int, Any]]:
    """Return the JSON values of a file with their lines; a ValueError for what is none."""
    rest: Iterator[tuple[int, bytes]] = (
        (number, line) for number, line in enumerate(lines, start=1) if line.strip()
    )
    number, line = next(rest, (1, b""))
    first = _parsed(line)
    if isinstance(first, ValueError):
        more = list(rest)
        whole = _parsed(b"".join([line, *(line for _, line in more)]))
        if not isinstance(whole, ValueError) or not any(_is_record(line) for _, line in more):
            yield number, whole
            return
        rest = iter(more)
    yield number, first
    for number, line in rest:
        yield number, _parsed(line)


def _parsed(source: bytes) -> Any:
    try:
        return parse_json(source.decode("utf-8-sig"))
    except ValueError as error:
        return error


def _is_record(line: bytes) -> bool:
    """Whether a line is an object of its own, and not a part of one that is spread over lines."""
    return line.startswith(b"{") and isinstance(_parsed(line), dict)


def _records(value: Any) -> Iterator[TracesData | Retrieval | Conversation | str]:
    """Return the records in one JSON value; a message for each that cannot be read."""
    if isinstance(value, ValueError):
        yield f"this is no JSON: {value}"
    elif isinstance(value, list):
        for position, item in enumerate(value):
            for record in _of_object(item):
                yield f"[{position}]: {record}" if isinstance(record, str) else record
    else:
        yield from _of_object(value)


def _of_object(value: Any) -> Iterator[TracesData | Retrieval | Conversation | str]:
    if not isinstance(value, dict):
        yield "this is neither OTLP nor an event, which are objects"
        return
    rejected: list[str] = []
    try:
        if "resourceSpans" in value or "resource_spans" in value:
            yield otlp.from_json(value, reject=rejected.append)
            yield from rejected
        elif is_conversation(value):
            yield conversation_from_event(value)
        elif "context" in value or "task" in value:
            yield retrieval_from_event(value)
        else:
            yield (
                "this has neither resourceSpans, as OTLP has, nor task and context, as events, "
                "nor turns"
            )
    except Undecodable as error:
        yield str(error)
