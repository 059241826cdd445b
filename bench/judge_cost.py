"""
Count the calls and prompt tokens of a retrieval, at an endpoint that answers by a script.

At first sight of a query, and at a later hop of the same trace; with a task alone, and with a task
and a subquery. Passages of 600 characters. Instructions and schema are counted. Tokens are those of
cl100k_base where tiktoken and its vocabulary are there (TIKTOKEN_CACHE_DIR names a folder with it),
else characters / 4.
"""

import asyncio
import json
import random
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from seer_otel.judge.assess import Assessor
from seer_otel.judge.openai import OpenAIJudge
from seer_otel.retrieval import Passage, Retrieval
from seer_otel.testing import ChatReply, ChatStub

PASSAGES = (3, 10, 50)
CHARACTERS = 600
TASK = "Which engineer designed the bridge at the old mill, and in which year was it opened?"
SUBQUERY = "engineer of the bridge at the old mill"
WORDS = re.findall(
    r"\w+",
    "the bridge over river was opened after long works and its engineer had drawn a stone arch "
    "that carried trains between two valleys until floods took away one pier in spring when "
    "council asked for repairs from local quarry which supplied granite blocks",
)
REQUIREMENTS = ["engineer of the bridge", "year of its opening"]


@dataclass(frozen=True)
class Row:
    """What one retrieval took."""

    passages: int
    scopes: str
    sight: str
    calls: int
    prompt_tokens: int
    enumeration_tokens: int
    """Of one list of requirements; 0 where none was asked for."""
    passage_tokens: int


def answer(body: dict[str, Any]) -> ChatReply:
    """List two requirements; cite the first passage for every requirement."""
    if _is_enumeration(body):
        return ChatReply(json.dumps({"requirements": REQUIREMENTS}))
    asked = body["messages"][1]["content"].rpartition("requirements ")[2].rstrip(".").split(", ")
    verdicts = [{"requirement": int(n), "passages": [1], "unsure": False} for n in asked]
    return ChatReply(json.dumps({"verdicts": verdicts}))


def _is_enumeration(body: dict[str, Any]) -> bool:
    return bool(body["response_format"]["json_schema"]["name"] == "requirements")


def _tokenizer() -> tuple[str, Callable[[str], int]]:
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("cl100k_base")
    except (ImportError, OSError):
        return "characters / 4", lambda text: len(text) // 4
    return "cl100k_base", lambda text: len(encoding.encode(text, disallowed_special=()))


UNIT, tokens = _tokenizer()


def _tokens(body: dict[str, Any]) -> int:
    schema = json.dumps(body["response_format"]["json_schema"]["schema"])
    return sum(tokens(message["content"]) for message in body["messages"]) + tokens(schema)


def _context(count: int, hop: int) -> tuple[Passage, ...]:
    draw = random.Random(hop)
    texts = (" ".join(draw.choices(WORDS, k=CHARACTERS)) for _ in range(count))
    return tuple(Passage(text[:CHARACTERS].capitalize()) for text in texts)


async def measure(count: int, subquery: str | None) -> list[Row]:
    """Judge two hops of a trace; return a row for each."""
    rows = []
    async with ChatStub(answer) as stub:
        judge = OpenAIJudge("stub", base_url=stub.base_url)
        assessor = Assessor(judge)
        for hop, sight in enumerate(("first sight", "later hop")):
            before = len(stub.requests)
            another = subquery and f"{subquery}, again" if hop else subquery
            context = _context(count, hop)
            await assessor.assess(Retrieval(context, task=TASK, subquery=another))
            bodies = stub.requests[before:]
            rows.append(
                Row(
                    passages=count,
                    scopes="task and subquery" if subquery else "task",
                    sight=sight,
                    calls=len(bodies),
                    prompt_tokens=sum(map(_tokens, bodies)),
                    enumeration_tokens=max(
                        map(_tokens, filter(_is_enumeration, bodies)), default=0
                    ),
                    passage_tokens=sum(tokens(passage.text or "") for passage in context),
                )
            )
        await assessor.aclose()
        await judge.aclose()
    return rows


async def _rows() -> list[Row]:
    return [
        row
        for subquery in (None, SUBQUERY)
        for count in PASSAGES
        for row in await measure(count, subquery)
    ]


def table(rows: list[Row]) -> str:
    """Return the rows in Markdown."""
    lines = [
        "| passages | scopes | | calls | prompt tokens | of one enumeration | prompt / passages |",
        "|--:|---|---|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row.passages} | {row.scopes} | {row.sight} | {row.calls} | {row.prompt_tokens} "
        f"| {row.enumeration_tokens or '–'} | {row.prompt_tokens / row.passage_tokens:.2f} |"
        for row in rows
    ]
    return "\n".join([*lines, "", f"Tokens: {UNIT}."])


def main() -> None:
    """Print the table."""
    sys.stdout.write(f"{table(asyncio.run(_rows()))}\n")


if __name__ == "__main__":
    main()
