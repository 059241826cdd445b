"""The examples run as they stand, and are judged."""

import asyncio
import json
import os
import sys
from pathlib import Path

from seer_otel.harness.candidates import gather
from seer_otel.testing import ScriptedJudge
from tests.service.backend import Backend
from tests.service.conftest import Service, Start

EXAMPLES = Path(__file__).parents[2] / "examples"
LIBRARY = "What does a library card cost, and when does the library open on Saturdays?"
DEPOT = "Who manages the depot of the tram that runs to the harbour?"


async def run(example: str, service: Service) -> str:
    """Run an example before an evaluator; return what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLES / example),
        env={**os.environ, "SEER_ENDPOINT": f"http://{service.listening.http}"},
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()

    assert 0 == process.returncode
    return printed.decode()


async def test_plain_python_is_judged_and_says_where_to_look(
    start: Start, next_hop: Backend
) -> None:
    judge = ScriptedJudge({LIBRARY: [("the price of a card", []), ("opening hours", [])]})
    service = await start(judge, hold__settle=0.1)
    *_, shipped, where = (await run("plain_python.py", service)).splitlines()
    await next_hop.until(lambda: len(next_hop.named("seer.evaluation")) == 1)
    found = await service.http.get(where.removeprefix("GET "))

    assert "shipped 1, dropped 0" == shipped
    assert LIBRARY == found.json()["task"]


async def test_decorated_functions_are_judged(start: Start, next_hop: Backend) -> None:
    searches = ["Which tram runs to the harbour?", "Who has managed the North depot?"]
    judge = ScriptedJudge({query: [("something", [])] for query in (DEPOT, *searches)})
    service = await start(judge, hold__settle=0.1)

    assert "shipped 3, dropped 0" in await run("decorators.py", service)
    await next_hop.until(lambda: len(next_hop.named("seer.evaluation")) == 3)
    asked = [each.query for question in judge.questions for each in question.asked]
    assert sorted([DEPOT] * 3 + searches) == sorted(asked)


async def test_a_span_written_by_hand_is_judged(start: Start, next_hop: Backend) -> None:
    service = await start(ScriptedJudge({LIBRARY: [("the price of a card", [])]}))
    body = json.loads((EXAMPLES / "span.json").read_text())

    assert 200 == (await service.http.post("/v1/traces", json=body)).status_code
    await next_hop.until(lambda: len(next_hop.named("search")) == 1)
    assert "seer.evaluation" in {event.name for event in next_hop.named("search")[0].events}


def test_files_of_spans_and_events_can_be_judged() -> None:
    gathered = gather([EXAMPLES / "events.jsonl", EXAMPLES / "span.json"])

    assert [None] * 4 == [candidate.skip_reason for candidate in gathered.candidates]
    assert [] == gathered.bad_records
