"""Retrieval events that no span carries: logged, held, judged, and seen at the next hop."""

import asyncio
import gzip
import json
import sys
from collections.abc import Awaitable, Mapping
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seer_otel import AsyncSeerClient, sampling
from seer_otel.errors import EvaluatorRefused, JudgeRefused
from seer_otel.evaluator import events
from seer_otel.evaluator.hold.entries import Key
from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ScriptedJudge
from tests.service.conftest import Service, Start
from tests.service.spans import (
    CONTEXT,
    DIRECTED,
    NATIONALITY,
    RELEASED,
    SCRIPT,
    START,
    TASK,
    TRACE,
    attributes,
    event,
    request,
    retrieval,
    span,
)

EVENT: Mapping[str, Any] = {"task": TASK, "context": CONTEXT}
IN_TRACE = {"trace_id": TRACE.hex()}
IN_SPAN = {**IN_TRACE, "span_id": f"{7:016x}"}


async def log(service: Service, **fields: Any) -> dict[str, Any]:
    answer = await service.http.post("/v1/log", json={**EVENT, **fields})
    assert 200 == answer.status_code, answer.text
    content: dict[str, Any] = answer.json()
    return content


def asked(service: Service) -> Awaitable[None]:
    """Wait for the judge to be asked."""
    asking = asyncio.Event()
    service.judge.before_reply = asking.set

    async def wait() -> None:
        async with asyncio.timeout(15):
            await asking.wait()

    return wait()


async def record(service: Service, record_id: str) -> dict[str, Any]:
    """Return the record of an event whose span or carrier has left."""
    answer = await service.http.get(f"/v1/records/{record_id}")
    assert 200 == answer.status_code, answer.text
    content: dict[str, Any] = answer.json()
    return content


async def left(service: Service, number: int = 1) -> list[Span]:
    """Wait for spans at the next hop."""
    await service.backend.until(lambda: len(service.backend.spans) >= number)
    return service.backend.spans


# Where the results go.


async def test_an_event_without_a_trace_becomes_one(start: Start) -> None:
    service = await start()
    answer = await log(service, record_id="rec_1", created_at=START / 1e9)
    (made,) = await left(service)

    assert {"record_id": "rec_1", "accepted": True, "sampled": True} == answer
    assert ("retrieval", b"", START, START) == (
        made.name,
        made.parent_span_id,
        made.start_time_unix_nano,
        made.end_time_unix_nano,
    )
    assert {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": TASK,
        "seer.task": TASK,
        "seer.record_id": "rec_1",
        "seer.evaluated": "scored",
        "seer.eval.task.recall": 1.0,
    }.items() <= attributes(made).items()
    assert CONTEXT == json.loads(attributes(made)["seer.context"])
    assert 1.0 == event(made, "task")["seer.recall"]
    service.assert_accounted()


async def test_an_event_in_a_span_gets_its_results_on_a_carrier_under_it(start: Start) -> None:
    service = await start(trace_results__send="marked")
    answer = await log(service, **IN_SPAN, created_at=START / 1e9)
    (carrier,) = await left(service)

    assert answer["record_id"].startswith("rec_")
    assert ("seer.evaluation", TRACE, (7).to_bytes(8, "big"), START, START) == (
        carrier.name,
        carrier.trace_id,
        carrier.parent_span_id,
        carrier.start_time_unix_nano,
        carrier.end_time_unix_nano,
    )
    assert answer["record_id"] == attributes(carrier)["seer.record_id"]
    assert 1.0 == event(carrier, "task")["seer.recall"]
    assert "seer.context" not in attributes(carrier)
    await service.stop()
    assert 1 == service.total(metrics.JUDGED_ONLY)
    service.assert_accounted()


async def test_an_event_in_a_trace_becomes_a_span_of_it(start: Start) -> None:
    service = await start()
    await log(service, **IN_TRACE, parent_span_id=f"{9:016x}", span_name="lookup")
    (made,) = await left(service)

    assert ("lookup", TRACE, (9).to_bytes(8, "big")) == (
        made.name,
        made.trace_id,
        made.parent_span_id,
    )
    assert 1.0 == event(made, "task")["seer.recall"]
    service.assert_accounted()


async def test_two_events_in_one_span_are_two_records(start: Start) -> None:
    service = await start(trace_results__send="marked")
    first = await log(service, **IN_SPAN)
    second = await log(service, **IN_SPAN, context=[RELEASED])
    carriers = await left(service, 2)
    records = [await record(service, answer["record_id"]) for answer in (first, second)]

    assert [1.0, 0.0] == [r["verdict"]["evaluations"][0]["scores"]["recall"] for r in records]
    assert 2 == len({carrier.span_id for carrier in carriers})
    assert {first["record_id"], second["record_id"]} == {
        attributes(carrier)["seer.record_id"] for carrier in carriers
    }


async def test_two_alike_events_in_one_span_are_two_carriers(start: Start) -> None:
    service = await start(trace_results__send="marked")
    await log(service, **IN_SPAN)
    await log(service, **IN_SPAN)

    assert 2 == len({carrier.span_id for carrier in await left(service, 2)})


# Among the spans of the trace.


async def test_an_event_in_a_retrieval_is_not_nested_in_it(start: Start) -> None:
    service = await start(trace_results__send="marked")
    await service.send(request(span(1, "root"), retrieval(7, parent=1)))
    answer = await log(service, **IN_SPAN)
    await left(service, 3)

    assert "scored" == (await record(service, answer["record_id"]))["evaluated"]
    (judged,) = service.backend.named("retrieval")
    assert "scored" == attributes(judged)["seer.evaluated"]


async def test_an_event_takes_the_task_of_the_spans_above_it(start: Start) -> None:
    service = await start(trace_results__send="marked")
    await service.send(request(span(7, "search", parent=1), span(1, "ask", input__value=TASK)))
    await log(service, **IN_SPAN, task=None, subquery="Who directed Inception?")
    await left(service, 3)
    (carrier,) = service.backend.named("seer.evaluation")

    assert "ancestor" == event(carrier, "task")["seer.task_source"]
    assert 2 == event(carrier, "task")["seer.requirements.total"]
    assert 1 == event(carrier, "subquery")["seer.requirements.total"]


@pytest.mark.parametrize("ids", [IN_TRACE, IN_SPAN], ids=["in a trace", "in a span"])
async def test_an_event_is_no_root_of_the_trace(start: Start, ids: dict[str, str]) -> None:
    """Retrievals go on waiting for the root, whose input is their task."""
    service = await start(trace_results__send="marked", hold__settle=0.05, hold__task_wait=5)
    await service.send(
        request(retrieval(2, parent=8, task=None, subquery="Who directed Inception?"))
    )
    judged_first = asked(service)
    await log(service, **ids)
    await judged_first
    await service.send(request(span(1, "ask", input__value=TASK)))
    await left(service, 3)
    (judged,) = (s for s in service.backend.spans if s.span_id == (2).to_bytes(8, "big"))

    assert "ancestor" == event(judged, "task")["seer.task_source"]


async def test_a_final_event_carries_the_result_of_its_trace(start: Start) -> None:
    service = await start()
    await service.send(request(span(1, "root"), retrieval(2, parent=1, context=[DIRECTED])))
    await left(service, 2)
    await log(service, **IN_SPAN, context=[NATIONALITY], is_final_context=True)
    await service.backend.until(lambda: bool(service.backend.named("seer.evaluation")))
    (carrier,) = service.backend.named("seer.evaluation")

    assert 1.0 == event(carrier, "trace")["seer.cumulative_recall"]
    assert 0.5 == event(carrier, "trace")["seer.recall"]
    assert [2] == event(carrier, "task")["seer.requirements.new"]


# Once.


@pytest.mark.parametrize("ids", [{}, IN_TRACE, IN_SPAN], ids=["alone", "in a trace", "in a span"])
async def test_the_same_record_id_is_judged_once_also_after_a_restart(
    start: Start, ids: dict[str, str]
) -> None:
    first = await start(trace_results__send="marked")
    answers = [await log(first, record_id="rec_1", **ids) for _ in range(2)]
    await left(first)
    await first.stop()
    second = await start(trace_results__send="marked")
    answers.append(await log(second, record_id="rec_1", **ids))
    await second.stop()

    assert [{"record_id": "rec_1", "accepted": True, "sampled": True}] * 3 == answers
    assert 1 == len(first.judge.questions) + len(second.judge.questions)
    assert 1 == len(first.backend.spans)
    assert (1, 1) == (first.total(metrics.DUPLICATE), second.total(metrics.DUPLICATE))
    first.assert_accounted()
    second.assert_accounted()


@pytest.mark.parametrize("ids", [{}, IN_SPAN], ids=["alone", "in a span"])
async def test_an_accepted_event_outlives_the_process(start: Start, ids: dict[str, str]) -> None:
    """At a stop spans leave without their verdict; nobody waits for an event, and it keeps its."""
    first = await start(trace_results__send="marked")
    first.judge.delay_s = 60
    await log(first, record_id="rec_1", **ids)
    pending = await first.http.get("/v1/records/rec_1")
    await first.stop()
    nothing = list(first.backend.spans)
    second = await start(trace_results__send="marked")
    (result,) = await left(second)
    await second.stop()

    assert (202, {"record_id": "rec_1", "evaluated": "pending"}) == (
        pending.status_code,
        pending.json(),
    )
    assert [] == nothing
    assert 1.0 == event(result, "task")["seer.recall"]
    second.assert_accounted()


async def test_a_verdict_after_the_deadline_is_still_on_the_span_of_the_event(start: Start) -> None:
    service = await start(hold__seconds=0.2, trace_results__send="marked")
    service.judge.delay_s = 0.5
    await log(service)
    (made,) = await left(service)

    assert 1.0 == event(made, "task")["seer.recall"]


# Sampling.


async def test_an_event_that_is_not_sampled_is_answered_and_not_kept(start: Start) -> None:
    service = await start(sample_rate=0.0)
    answer = await log(service, record_id="rec_1")
    missing = await service.http.get("/v1/records/rec_1")
    await service.stop()

    assert {"record_id": "rec_1", "accepted": True, "sampled": False} == answer
    assert 404 == missing.status_code
    assert [] == service.backend.spans
    assert 1 == service.total(metrics.RETRIEVALS)
    service.assert_accounted()


async def test_events_alone_are_sampled_one_by_one_and_those_of_a_trace_together(
    start: Start,
) -> None:
    service = await start(sample_rate=0.5, forward__url="off")
    alone = [{**EVENT, "record_id": f"r{n}"} for n in range(40)]
    traces = [f"{n:032x}" for n in range(1, 11)]
    together = [{**EVENT, "trace_id": trace} for trace in traces for _ in range(3)]
    answer = await service.http.post("/v1/log/batch", json={"events": [*alone, *together]})
    sampled = [result["sampled"] for result in answer.json()["results"]]

    assert [sampling.sampled(Key.of(f"r{n}").trace_id.hex(), 0.5) for n in range(40)] == sampled[
        :40
    ]
    assert 5 < sum(sampled[:40]) < 35
    assert [s for trace in traces for s in [sampling.sampled(trace, 0.5)] * 3] == sampled[40:]


async def test_an_event_says_its_own_rate(start: Start) -> None:
    service = await start(sample_rate=0.0)

    assert (await log(service, sample_rate=1.0))["sampled"] is True
    assert (await log(service, sample_rate=0.0))["sampled"] is False


# Batches.


async def test_a_bad_event_hinders_none_of_its_neighbours(start: Start) -> None:
    service = await start(trace_results__send="marked")
    events = [
        {**EVENT, "record_id": "a"},
        {"task": TASK, "context": [{"body": "?"}], "record_id": "b"},
        {**EVENT, "record_id": "c"},
    ]
    answer = await service.http.post("/v1/log/batch", json={"events": events})
    await left(service, 2)

    assert 200 == answer.status_code
    assert [
        {"record_id": "a", "accepted": True, "sampled": True},
        {
            "record_id": "b",
            "accepted": False,
            "sampled": False,
            "errors": [
                {"field": "context[0].text", "message": "is missing"},
                {"field": "context[0].body", "message": "there is no such field"},
            ],
        },
        {"record_id": "c", "accepted": True, "sampled": True},
    ] == answer.json()["results"]
    assert 1 == service.total(metrics.REFUSED)
    service.assert_accounted()


# Evaluate.


async def test_evaluate_answers_with_the_verdict_whatever_the_rate(start: Start) -> None:
    service = await start(sample_rate=0.0)
    answer = await service.http.post(
        "/v1/evaluate", json={**EVENT, "record_id": "rec_1", "sample_rate": 0}
    )
    kept = await service.http.get("/v1/records/rec_1")
    await service.stop()

    assert 200 == answer.status_code
    content = answer.json()
    assert ("rec_1", "scored", TASK) == (
        content["record_id"],
        content["evaluated"],
        content["task"],
    )
    assert 1.0 == content["verdict"]["evaluations"][0]["scores"]["recall"]
    assert "trace_id" not in {k for k, v in content.items() if v is not None}
    assert content == kept.json()
    assert [] == service.backend.spans
    assert 0 == service.total(metrics.ACCEPTED)


async def test_evaluate_judges_an_event_once(start: Start) -> None:
    service = await start()
    answers = [
        await service.http.post("/v1/evaluate", json={**EVENT, "record_id": "rec_1"})
        for _ in range(2)
    ]

    assert answers[0].json() == answers[1].json()
    assert 1 == len(service.judge.questions)


async def test_a_judge_that_fails_is_asked_again_the_next_time(start: Start) -> None:
    service = await start(judge=ScriptedJudge({TASK: JudgeRefused("no")}))
    failed = await service.http.post("/v1/evaluate", json={**EVENT, "record_id": "rec_1"})
    service.judge.script = SCRIPT
    scored = await service.http.post("/v1/evaluate", json={**EVENT, "record_id": "rec_1"})

    assert (200, "failed", "judge_refused") == (
        failed.status_code,
        failed.json()["evaluated"],
        failed.json()["reason"],
    )
    assert "scored" == scored.json()["evaluated"]


async def test_evaluations_that_wait_are_bounded(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MAX_WAITING", 1)
    service = await start()
    service.judge.delay_s = 60
    judged = asked(service)
    waiting = asyncio.create_task(service.http.post("/v1/evaluate", json=EVENT, timeout=60))
    await judged
    refused = await service.http.post("/v1/evaluate", json=EVENT)
    waiting.cancel()

    assert (503, "2") == (refused.status_code, refused.headers["retry-after"])


# Contexts.


@pytest.mark.parametrize("context", [[], [""], [" \n"], [{"text": ""}]])
async def test_an_empty_result_is_a_recall_of_0(start: Start, context: list[Any]) -> None:
    service = await start()
    answer = await service.http.post("/v1/evaluate", json={"task": TASK, "context": context})
    scores = answer.json()["verdict"]["evaluations"][0]["scores"]

    assert (0.0, None, None) == (scores["recall"], scores["precision"], scores["ndcg"])
    assert [] == service.judge.questions


async def test_what_cannot_be_read_is_skipped_and_says_so(start: Start) -> None:
    service = await start(trace_results__send="marked")
    answer = await log(service, context=[{"text": None, "id": "d1"}])
    (made,) = await left(service)
    kept = await record(service, answer["record_id"])

    assert ("skipped", "no_content", None) == (kept["evaluated"], kept["reason"], kept["verdict"])
    assert "no_content" == attributes(made)["seer.skip_reason"]


@pytest.mark.parametrize(
    ("context", "calls"),
    [
        (["x" * 4_000] + ["y"] * 49, 1),
        ([f"passage {n}" for n in range(51)], 2),
        (["x" * 4_001] + [f"passage {n}" for n in range(49)], 2),
    ],
    ids=["50 of 4,000", "51", "4,001"],
)
async def test_more_than_a_call_takes_is_judged_in_several(
    start: Start, context: list[str], calls: int
) -> None:
    service = await start()
    answer = await service.http.post("/v1/evaluate", json={"task": TASK, "context": context})
    (evaluation,) = answer.json()["verdict"]["evaluations"]

    assert calls == len(service.judge.questions)
    assert (len(context), 0, 0) == (
        evaluation["passages_total"],
        evaluation["passages_dropped"],
        evaluation["characters_dropped"],
    )


async def test_what_is_cut_at_the_hard_limits_is_counted(start: Start) -> None:
    service = await start(limits__max_passages=2, limits__max_characters=50)
    answer = await service.http.post(
        "/v1/evaluate", json={"task": TASK, "context": ["x" * 60, DIRECTED, "c", "d"]}
    )
    (evaluation,) = answer.json()["verdict"]["evaluations"]

    assert (2, 2, 10) == (
        evaluation["passages_total"],
        evaluation["passages_dropped"],
        evaluation["characters_dropped"],
    )
    assert 0.5 == evaluation["scores"]["precision"]


async def test_labels_are_scored_and_not_shown_to_the_judge(start: Start) -> None:
    service = await start()
    answer = await service.http.post(
        "/v1/evaluate",
        json={
            "task": TASK,
            "context": [{"text": DIRECTED, "id": 1}, {"text": RELEASED, "id": "2"}],
            "ground_truth": {"gold_doc_ids": ["1", 3], "answer": "secret"},
        },
    )
    (evaluation,) = answer.json()["verdict"]["evaluations"]

    assert 0.5 == evaluation["ground_truth"]["gt_recall"]
    assert "secret" not in repr(service.judge.questions)


# Refusals.


@pytest.mark.parametrize("path", ["/v1/log", "/v1/evaluate"])
async def test_what_is_no_event_is_refused_field_by_field(start: Start, path: str) -> None:
    service = await start()
    answer = await service.http.post(path, json={"task": TASK, "context": [3], "colour": 1})
    item = 'expected a text, or an object like {"text": …}'

    assert 422 == answer.status_code
    assert {
        "message": f"context[0]: {item}; colour: there is no such field",
        "errors": [
            {"field": "context[0]", "message": item},
            {"field": "colour", "message": "there is no such field"},
        ],
    } == answer.json()
    assert [] == service.judge.questions
    assert 1 == service.total(metrics.REFUSED)


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", JSON, 400),
        (b"\xff", JSON, 400),
        (b"[" * 100_000, JSON, 400),
        (b"{}", {"content-type": "text/plain"}, 415),
        (b"{}", {}, 415),
        (b"{}", {**JSON, "content-encoding": "br"}, 415),
        (b" " * 2_000, JSON, 413),
    ],
    ids=["no json", "no utf-8", "deep", "media type", "no media type", "encoding", "too large"],
)
@pytest.mark.parametrize("path", ["/v1/log", "/v1/log/batch", "/v1/evaluate"])
async def test_what_is_no_json_is_refused(
    start: Start, path: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    service = await start(limits__request_bytes=200_000 if len(body) > 50_000 else 1_024)
    answer = await service.http.post(path, content=body, headers=headers)

    assert status == answer.status_code
    assert {"message"} == set(answer.json())
    assert 1 == service.total(metrics.REFUSED)


async def test_a_key_is_asked_for(start: Start) -> None:
    service = await start(api_keys="secret")
    answers = [
        await service.http.post("/v1/log", json=EVENT),
        await service.http.post("/v1/evaluate", json=EVENT),
        await service.http.get("/v1/records/rec_1"),
    ]
    allowed = await service.http.post(
        "/v1/log", json=EVENT, headers={"authorization": "Bearer secret"}
    )

    assert {(401, "Bearer")} == {(a.status_code, a.headers["www-authenticate"]) for a in answers}
    assert 200 == allowed.status_code


async def test_a_full_hold_asks_to_come_back(start: Start) -> None:
    service = await start(hold__max_bytes=1024)
    service.judge.delay_s = 60
    await log(service, context=["x" * 2_000])
    answer = await service.http.post("/v1/log", json=EVENT)

    assert (503, "2") == (answer.status_code, answer.headers["retry-after"])
    assert "the hold is full" in answer.json()["message"]


async def test_gzip_and_other_scripts_are_taken(start: Start) -> None:
    service = await start()
    body = json.dumps({"task": "Wer führte Regie? 监督 🎬 \ud800", "context": ["监督 🎬"]})
    answer = await service.http.post(
        "/v1/log",
        content=gzip.compress(body.encode()),
        headers={**JSON, "content-encoding": "gzip"},
    )
    (made,) = await left(service)

    assert 200 == answer.status_code
    assert ["监督 🎬"] == json.loads(attributes(made)["seer.context"])


# The client, and a real evaluator.


async def test_what_the_client_logs_is_judged(start: Start) -> None:
    service = await start()
    async with AsyncSeerClient(f"http://{service.listening.http}") as client:
        record_id = client.log(
            task=TASK,
            context=[{"page_content": DIRECTED, "score": 0.9, "body": "unknown"}, (NATIONALITY, 1)],
            metadata={"env": "test"},
            ground_truth={"gold_doc_ids": ["d1"]},
            created_at=START / 1e9,
        )
        flushed = await client.flush()
        await left(service)
        kept = await client.record(record_id)
        verdict = await client.evaluate(task=TASK, context=[DIRECTED])
        with pytest.raises(EvaluatorRefused, match="neither task nor subquery says"):
            await client.evaluate(context=[DIRECTED])

    assert flushed is True
    assert kept is not None
    assert kept.verdict is not None
    assert verdict.verdict is not None
    evaluations = kept.verdict.of("task"), verdict.verdict.of("task")
    assert [1.0, 0.5] == [e and e.scores.recall for e in evaluations]
    assert (kept.record_id, "scored", TASK) == (record_id, kept.evaluated, kept.task)


SCRIPT_THAT_FORKS = """
import os, sys
from seer_otel import SeerClient

client = SeerClient(sys.argv[1])
client.log(task="before", context=[])
for number in range(2):
    if os.fork() == 0:
        client.log(task=f"worker {number}", context=[])
        sys.exit()
for _ in range(2):
    os.wait()
"""


async def test_forked_workers_and_the_end_of_a_process_lose_nothing(start: Start) -> None:
    service = await start(judge=ScriptedJudge({}))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SCRIPT_THAT_FORKS, f"http://{service.listening.http}"
    )
    code = await process.wait()
    made = await left(service, 3)

    assert 0 == code
    assert ["before", "worker 0", "worker 1"] == sorted(attributes(s)["seer.task"] for s in made)
