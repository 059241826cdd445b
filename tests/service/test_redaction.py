"""Nothing but a span's own bytes is kept, judged or counted of what is to be redacted."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from seer_otel.evaluator.hold.database import SCHEMA
from seer_otel.testing import ScriptedJudge
from tests.service.backend import Backend
from tests.service.conftest import Start, running
from tests.service.spans import attributes, event, request, retrieval, span
from tests.service.texts import texts

SECRET = "ada@example.org"
TASK = f"Who is {SECRET}?"
SHOWN = "Who is [redacted]?"
PATTERNS = [r"[\w.]+@[\w.]+"]
SCRIPT = {SHOWN: [("who it is", ["[redacted] wrote the first program."])]}
TEXT = f"{SECRET} wrote the first program."
CONTEXT: list[dict[str, Any] | str] = [{"text": TEXT, "id": "d1"}, "Nothing of note."]


class Listening(ScriptedJudge):
    """A judge that keeps every word."""

    @property
    def heard(self) -> str:
        passages = [text for question in self.questions for text in question.passages.values()]
        asked = [each for question in self.questions for each in question.asked]
        return repr((self.enumerated, passages, asked))


def kept(folder: Path) -> dict[str, bytes]:
    """What every table holds, but for spans that are on their way."""
    connection = sqlite3.connect(folder / "data" / "hold.sqlite3")
    try:
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
            if name not in ("held", "outbox") and not name.startswith("sqlite_")
        ]
        assert {"records", "requirements", "answers", "ancestors"} <= set(names), SCHEMA
        return {
            name: b"\n".join(
                repr(row).encode() for row in connection.execute(f"SELECT * FROM {name}")
            )
            for name in names
        }
    finally:
        connection.close()


async def test_the_judge_and_everything_kept_see_what_may_be_seen(
    start: Start, tmp_path: Path
) -> None:
    judge = Listening(SCRIPT)
    service = await start(judge, redact__patterns=PATTERNS, metric_keys=["user"])
    span_ = retrieval(
        2, parent=1, task=None, subquery=f"who wrote to {SECRET}", context=CONTEXT,
        seer__metadata=f'{{"user": "{SECRET}"}}',
    )  # fmt: skip
    await service.send(request(span_))
    await service.send(request(span(1, "ask", input__value=TASK)))
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 1)
    (judged,) = service.backend.named("retrieval")
    body = {"task": TASK, "context": CONTEXT, "record_id": "r"}
    evaluated = await service.http.post("/v1/evaluate", json=body)
    logged = await service.http.post("/v1/log", json={**body, "record_id": "s"})
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 2)
    records = [
        (await service.http.get(f"/v1/records/{name}")).text
        for name in ("s", f"{judged.trace_id.hex()}-{judged.span_id.hex()}")
    ]
    metrics = (await service.http.get("/metrics")).text
    await service.stop()

    assert 1.0 == event(judged, "task")["seer.recall"]
    assert (200, 200) == (evaluated.status_code, logged.status_code)
    assert SHOWN in judge.heard
    for said in (judge.heard, evaluated.text, *records, metrics):
        assert SECRET not in said
    assert 'user="[redacted]"' in metrics
    for table, content in kept(tmp_path).items():
        assert SECRET.encode() not in content, table


async def test_the_span_itself_goes_on_as_it_came(start: Start) -> None:
    service = await start(Listening(SCRIPT), redact__patterns=PATTERNS)
    await service.send(request(retrieval(1, task=TASK, context=CONTEXT)))
    await service.backend.until(lambda: len(service.backend.spans) == 1)

    assert TASK == attributes(service.backend.spans[0])["seer.task"]


async def test_texts_of_the_resolver_are_redacted_too(start: Start) -> None:
    judge = Listening(SCRIPT)
    with texts({"d1": TEXT}) as resolver:
        service = await start(judge, redact__patterns=PATTERNS, resolver__url=resolver.url)
        await service.send(request(retrieval(1, task=TASK, context=[{"id": "d1"}])))
        await service.backend.until(lambda: len(service.backend.spans) == 1)
        body = {"task": TASK, "context": [{"text": None, "id": "d1"}]}
        evaluated = await service.http.post("/v1/evaluate", json=body)

    assert 1.0 == event(service.backend.spans[0], "task")["seer.recall"]
    assert 1.0 == evaluated.json()["verdict"]["evaluations"][0]["scores"]["recall"]
    assert SECRET not in judge.heard


async def test_what_is_left_behind_is_redacted_when_it_is_taken_up(
    tmp_path: Path, next_hop: Backend
) -> None:
    hanging = Listening(SCRIPT, delay_s=60)
    settings: dict[str, Any] = {"redact__patterns": PATTERNS, "shutdown__held": "keep"}
    async with running(tmp_path, hanging, next_hop, **settings) as service:
        await service.send(request(retrieval(1, task=TASK, context=CONTEXT)))
    judge = Listening(SCRIPT)
    async with running(tmp_path, judge, next_hop, **settings):
        await next_hop.until(lambda: len(next_hop.spans) == 1)

    assert 1.0 == event(next_hop.spans[0], "task")["seer.recall"]
    assert SECRET not in judge.heard + hanging.heard


async def test_a_function_that_fails_costs_a_score_and_shows_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing_redaction.py").write_text("def hide(text): raise ValueError(text)\n")
    monkeypatch.syspath_prepend(tmp_path)
    judge = Listening(SCRIPT)
    service = await start(judge, redact__function="failing_redaction:hide")
    await service.send(request(retrieval(1, task=TASK, context=CONTEXT), span(2, "plain")))
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    await service.stop()
    (passed,) = service.backend.named("retrieval")

    assert ("skipped", "redacted") == (
        attributes(passed)["seer.evaluated"],
        attributes(passed)["seer.skip_reason"],
    )
    assert [] == judge.questions + judge.enumerated
    service.assert_accounted()
