"""
Recorded verdicts: one line of JSON a query, `{query, requirements: [{text, passages: [texts]}]}`.

A recording is written from verdicts, can be written or mended by hand, and is replayed without a
model.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from seer_otel.errors import ConfigError
from seer_otel.judge.layout import Limits, lay_out
from seer_otel.metrics.documents import document
from seer_otel.retrieval import Passage, Retrieval
from seer_otel.verdict import Verdict


class RecordedRequirement(BaseModel):
    """A requirement, and the texts of the passages that support it."""

    model_config = ConfigDict(extra="forbid")

    text: str
    passages: list[str]


class RecordedQuery(BaseModel):
    """A query with its requirements; without any, it needs no retrieval."""

    model_config = ConfigDict(extra="forbid")

    query: str
    requirements: list[RecordedRequirement]

    def unite(self, other: "RecordedQuery") -> None:
        """
        Add what was found for the same query in another context.

        Raises:
            ValueError: The requirements are others, so the two cannot be compared.
        """
        mine, theirs = ([each.text for each in q.requirements] for q in (self, other))
        if mine != theirs:
            raise ValueError("the same query has other requirements elsewhere")
        for requirement, more in zip(self.requirements, other.requirements, strict=True):
            known = {document(text) for text in requirement.passages}
            requirement.passages += [t for t in more.passages if document(t) not in known]


@dataclass
class Recording:
    """Queries with their verdicts, united over the contexts they were judged against."""

    queries: dict[str, RecordedQuery] = field(default_factory=dict)
    """By the query in NFC, white space collapsed."""

    def add(self, recorded: RecordedQuery) -> None:
        """
        Add what was found for one query.

        Raises:
            ValueError: The same query is there with other requirements.
        """
        known = self.queries.setdefault(document(recorded.query), recorded)
        if known is not recorded:
            known.unite(recorded)

    def add_verdict(
        self, retrieval: Retrieval, verdict: Verdict, limits: Limits | None = None
    ) -> None:
        """
        Add what a judge found for a retrieval, within the limits that it was judged in.

        What failed is left out.

        Raises:
            ValueError: The same query is there with other requirements: two judges, one recording.
        """
        context = lay_out(retrieval.context, limits or Limits()).context
        for evaluation in verdict.evaluations:
            if evaluation.judgement is None or evaluation.scope not in ("task", "subquery"):
                continue
            requirements = [
                RecordedRequirement(
                    text=requirement.text, passages=_texts(context, requirement.passages)
                )
                for requirement in evaluation.judgement.requirements
            ]
            self.add(RecordedQuery(query=evaluation.judgement.query, requirements=requirements))

    def write(self, path: Path) -> None:
        """Write all lines at once, so that a file is whole or not there."""
        draft = path.with_name(f"{path.name}.part")
        lines = (f"{recorded.model_dump_json()}\n" for recorded in self.queries.values())
        draft.write_text("".join(lines), encoding="utf-8")
        os.replace(draft, path)

    @classmethod
    def read(cls, path: Path) -> "Recording":
        """
        Read a recording.

        Raises:
            ConfigError: The file cannot be read; with the number of the line that is at fault.
        """
        recording = cls()
        for number, line in enumerate(_lines(path), start=1):
            try:
                if line.strip():
                    recording.add(RecordedQuery.model_validate_json(line))
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                place = ".".join(map(str, first["loc"])) or "the line"
                raise ConfigError(f"{path}, line {number}: {place}: {first['msg']}") from None
            except ValueError as error:
                raise ConfigError(f"{path}, line {number}: {error}") from None
        return recording


def _texts(context: Sequence[Passage], positions: Iterable[int]) -> list[str]:
    """Return the texts at these positions, one a document."""
    texts = (context[position - 1].text or "" for position in positions)
    return list({document(text): text for text in texts}.values())


def _lines(path: Path) -> Iterator[str]:
    try:
        # Not splitlines: texts may hold other line breaks than "\n" unescaped.
        yield from path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
