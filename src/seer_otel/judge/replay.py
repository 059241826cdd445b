"""A judge that repeats recorded verdicts: no model, no cost, the same answer every time."""

import hashlib
from pathlib import Path

from seer_otel.errors import JudgeFailed
from seer_otel.judge.protocol import Question, Requirements, Support
from seer_otel.judge.recording import RecordedQuery, Recording
from seer_otel.metrics.documents import document


class ReplayJudge:
    """
    Judges from a recording.

    A passage supports what its text was recorded for, whatever its place and id; one that was
    never recorded supports nothing.

    Raises:
        ConfigError: The file cannot be read; with the number of the line that is at fault.
    """

    def __init__(self, path: Path) -> None:
        self._recording = Recording.read(path)
        self._name = f"replay/{path.stem}"
        self._revision = hashlib.sha256(path.read_bytes()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """`replay/<file stem>`."""
        return self._name

    @property
    def revision(self) -> str:
        """Changes with the file's content."""
        return self._revision

    async def requirements(self, query: str) -> Requirements:
        """Return the requirements that were recorded."""
        return Requirements(tuple(each.text for each in self._recorded(query).requirements))

    async def support(self, question: Question) -> Support:
        """Cite the passages whose texts were recorded; unrecorded requirements stay unanswered."""
        documents = {number: document(text) for number, text in question.passages.items()}
        citations: dict[int, tuple[int, ...]] = {}
        for asked in question.asked:
            recorded = {each.text: each for each in self._recorded(asked.query).requirements}
            for number, requirement in asked.requirements.items():
                if requirement in recorded:
                    wanted = {document(text) for text in recorded[requirement].passages}
                    citations[number] = tuple(n for n, text in documents.items() if text in wanted)
        return Support(citations)

    async def aclose(self) -> None:
        """Nothing to release."""

    def _recorded(self, query: str) -> RecordedQuery:
        recorded = self._recording.queries.get(document(query))
        if recorded is None:
            raise JudgeFailed("the recording holds no verdict on this query", "not_recorded")
        return recorded
