"""One step as OpenLLMetry records it: what went in, and what came out."""

from dataclasses import dataclass
from typing import Final

from seer_otel.dialects.inputs import question
from seer_otel.dialects.passages import Documents
from seer_otel.dialects.question import Question
from seer_otel.dialects.span import Span

_INPUTS: Final = ("traceloop.entity.input", "gen_ai.task.input")
_OUTPUTS: Final = ("traceloop.entity.output", "gen_ai.task.output")


@dataclass(frozen=True, slots=True)
class Found:
    """A retrieval, as one part of the dialect found it."""

    question: Question
    documents: Documents
    several_queries: bool = False


def asked(span: Span) -> Question:
    """Return the question in what went in."""
    return question(span, *_INPUTS)


def went_in(span: Span) -> object:
    """Return what went in; None where it was not recorded."""
    return _first(span, _INPUTS)


def came_out(span: Span) -> object:
    """Return what came out; None where it was not recorded."""
    return _first(span, _OUTPUTS)


def _first(span: Span, keys: tuple[str, ...]) -> object:
    return next((span.attributes[key] for key in keys if key in span.attributes), None)
