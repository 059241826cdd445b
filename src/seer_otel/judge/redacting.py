"""A judge that is shown of texts what may be seen of them."""

from collections.abc import Callable
from dataclasses import replace

from seer_otel.errors import JudgeFailed
from seer_otel.judge.protocol import Judge, Question, Requirements, Support

Redact = Callable[[str], str]


class RedactingJudge:
    """
    Stands before a judge, for texts that were not redacted when they were read.

    Args:
        judge: Whom to ask.
        redact: From a text to what may be seen of it.
    """

    def __init__(self, judge: Judge, redact: Redact) -> None:
        self._judge = judge
        self._redact = redact

    @property
    def name(self) -> str:
        """That of the judge."""
        return self._judge.name

    @property
    def revision(self) -> str:
        """That of the judge."""
        return self._judge.revision

    async def requirements(self, query: str) -> Requirements:
        """List what is needed to answer what may be seen of the query."""
        return await self._judge.requirements(self._shown(query))

    async def support(self, question: Question) -> Support:
        """Ask about what may be seen of queries, requirements and passages."""
        asked = tuple(
            replace(
                each,
                query=self._shown(each.query),
                requirements={n: self._shown(text) for n, text in each.requirements.items()},
            )
            for each in question.asked
        )
        passages = {number: self._shown(text) for number, text in question.passages.items()}
        return await self._judge.support(replace(question, asked=asked, passages=passages))

    async def aclose(self) -> None:
        """Release what the judge holds."""
        await self._judge.aclose()

    def _shown(self, text: str) -> str:
        try:
            return self._redact(text)
        except Exception as error:  # without its words: they may quote the text
            raise JudgeFailed("the redaction failed", type(error).__name__) from None
