"""OpenLLMetry's spans of Haystack 2: one for a pipeline, with the documents that it ends in."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from seer_otel.dialects import passages
from seer_otel.dialects.openllmetry.step import Found, asked, came_out, went_in
from seer_otel.dialects.passages import CUT
from seer_otel.dialects.question import NO_QUESTION, Question, unwrap
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import json_object, parse_json

_DOCUMENTS: Final = re.compile(r'\s*\{\s*"[^"]{0,200}"\s*:\s*\{\s*"documents"\s*:\s*\[')
"""How the output of a pipeline that ends in documents begins."""


def find(span: Span) -> Found | None:
    """Find a pipeline's run that ended in documents."""
    if span.attributes.get("traceloop.entity.name") != "haystack_pipeline":
        return None
    output = came_out(span)
    if isinstance(output, str):
        try:
            output = parse_json(output)
        except ValueError:
            return Found(asked(span), CUT) if _DOCUMENTS.match(output) else None
    lists = dict(_lists(output))
    if not lists:
        return None
    questions = _questions(span, lists)
    return Found(
        question=_agreed(span, questions),
        documents=passages.listed([item for items in lists.values() for item in items], "content"),
        several_queries=len(questions) > 1,
    )


def _lists(output: object) -> Iterator[tuple[str, list[Any]]]:
    """Yield the components that put out documents, with these."""
    for component, fields in output.items() if isinstance(output, Mapping) else ():
        documents = fields.get("documents") if isinstance(fields, Mapping) else None
        if isinstance(documents, list):
            yield component, documents


def _questions(span: Span, sources: Mapping[str, object]) -> set[Question]:
    """Return what the sources were asked; where they were not, what any component was."""
    fields = json_object(went_in(span))
    for wrapper in ("kwargs", "data"):
        fields = json_object(fields.get(wrapper)) or fields
    asked_of = {
        component: question
        for component, inputs in fields.items()
        if isinstance(inputs, Mapping) and (question := unwrap(inputs.get("query"))) != NO_QUESTION
    }
    return {asked_of[source] for source in sources if source in asked_of} or {*asked_of.values()}


def _agreed(span: Span, questions: set[Question]) -> Question:
    if not questions:
        return asked(span)
    return next(iter(questions)) if len(questions) == 1 else NO_QUESTION
