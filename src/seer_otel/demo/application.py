"""
A small RAG application: two hops, the best of both, an answer.

This is all that an application has to do to have its retrievals judged: `request` says what the
user asked, `retrieval` what was fetched.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from opentelemetry.trace import TracerProvider

from seer_otel import request, retrieval
from seer_otel.demo.search import Hit, Index

RETRIEVALS = 3
"""For one question."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a user, and the one that a model would ask once it has seen the first hits."""

    question: str
    follow_up: str


def questions() -> list[Question]:
    """Return the questions that come with the package."""
    lines = files(__package__).joinpath("data", "questions.jsonl").read_text("utf-8")
    return [Question(**json.loads(line)) for line in lines.splitlines()]


def answer(asked: Question, index: Index, provider: TracerProvider) -> str:
    """Search twice, and answer from the best of both."""
    tracer = provider.get_tracer("demo")
    with (
        tracer.start_as_current_span("answer") as span,
        request(task=asked.question, sample_rate=1.0),
    ):
        with retrieval(name="first hop", tracer_provider=provider) as hop:
            first = index.search(asked.question)
            hop.context = _passages(first)
        with retrieval(
            name="second hop", subquery=asked.follow_up, tracer_provider=provider
        ) as hop:
            second = index.search(asked.follow_up)
            hop.context = _passages(second)
        with retrieval(
            name="final context", is_final_context=True, tracer_provider=provider
        ) as final:
            best = list({hit.document.id: hit for hit in (*first[:3], *second[:3])}.values())
            final.context = _passages(best, ranked=True)
        with tracer.start_as_current_span("write"):
            written = _write(asked.question, best)
        span.set_attributes({"input.value": asked.question, "output.value": written})
        return written


def _passages(hits: Iterable[Hit], *, ranked: bool = False) -> list[dict[str, object]]:
    """Return what `seer.context` holds; scores of two queries do not compare, so state a rank."""
    return [
        {
            "id": hit.document.id,
            "text": f"{hit.document.title}\n{hit.document.text}",
            **({"rank": rank} if ranked else {"score": hit.score}),
        }
        for rank, hit in enumerate(hits, start=1)
    ]


def _write(question: str, hits: Iterable[Hit]) -> str:
    """Take the sentence that shares the most words with the question: no model runs here."""
    words = set(re.findall(r"\w+", question.casefold()))
    sentences = [sentence for hit in hits for sentence in hit.document.text.split(". ")]
    return max(sentences, key=lambda s: len(words & set(re.findall(r"\w+", s.casefold()))))
