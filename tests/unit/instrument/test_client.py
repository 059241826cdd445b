"""Events leave in the background and never in the way; verdicts are waited for."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from seer_otel import AsyncSeerClient, SeerClient, request
from seer_otel.errors import ConfigError, EvaluatorBusy, EvaluatorRefused
from seer_otel.instrument import shipping
from seer_otel.instrument.shipping import Counts
from seer_otel.retrieval import GroundTruth
from seer_otel.verdict import (
    Evaluation,
    Judgement,
    Provenance,
    Record,
    Requirement,
    Scores,
    Usage,
    Verdict,
)

RECORD = Record(
    record_id="rec_1",
    evaluated="scored",
    task="Who?",
    verdict=Verdict(
        (
            Evaluation(
                scope="task",
                status="scored",
                provenance=Provenance("local/words", "1", "2026-11-29T12:00:00Z", usage=Usage(1)),
                judgement=Judgement("Who?", (Requirement("who", (1, 2)),)),
                scores=Scores(recall=1.0, absent={"ndcg": "there is no ranking"}),
                new_requirements=(1,),
            ),
        )
    ),
)


@dataclass
class Evaluator:
    """Answers by a script, the last answer for ever; keeps what it was sent."""

    answers: list[tuple[int, Any]] = field(default_factory=lambda: [(200, {})])
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, Any, dict[str, str]]] = field(default_factory=list)
    url: str = ""
    came: threading.Event = field(default_factory=threading.Event)
    may_answer: threading.Event = field(default_factory=threading.Event)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for _, path, body, _ in self.requests if "batch" in path
                for event in body["events"]]  # fmt: skip

    @property
    def event(self) -> dict[str, Any]:
        (event,) = self.events
        return event


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    told = Evaluator()
    told.may_answer.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            told.requests.append(
                (self.command, self.path, json.loads(body) if body else None, headers)
            )
            told.came.set()
            told.may_answer.wait(60)
            status, content = told.answers.pop(0) if len(told.answers) > 1 else told.answers[0]
            payload = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {**told.headers, "content-length": str(len(payload))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        told.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield told
        told.may_answer.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def client(evaluator: Evaluator) -> Iterator[SeerClient]:
    with SeerClient(evaluator.url, "key") as client:
        yield client


@pytest.fixture
def nobody() -> Iterator[str]:
    """A URL at which there is nobody."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEER_ENDPOINT", "SEER_SAMPLE_RATE", "SEER_SEND", "SEER_API_KEY"):
        monkeypatch.delenv(name, raising=False)


# What is sent.


def test_an_event_is_sent_with_all_that_was_said(evaluator: Evaluator, client: SeerClient) -> None:
    record_id = client.log(
        task="Who?",
        context=["a", {"text": "b", "id": 3, "score": 0.5}, ("c", 0.25)],
        subquery="Where?",
        is_final_context=True,
        metadata={"env": "prod", "at": datetime(2026, 11, 29, tzinfo=UTC)},
        ground_truth=GroundTruth(("3",), "b"),
        conversation_id="c1",
        expected_outcome="It is said.",
        trace_id=0xAB,
        span_id="0" * 14 + "cd",
        parent_span_id="0" * 14 + "ef",
        span_name="lookup",
        created_at=datetime(2026, 11, 29, 14, tzinfo=timezone(timedelta(hours=2))),
        sample_rate=0.5,
        record_id="rec_1",
    )
    client.flush()

    assert "rec_1" == record_id
    assert {
        "record_id": "rec_1",
        "task": "Who?",
        "context": ["a", {"text": "b", "id": "3", "score": 0.5}, {"text": "c", "score": 0.25}],
        "subquery": "Where?",
        "is_final_context": True,
        "metadata": {"env": "prod", "at": "2026-11-29 00:00:00+00:00"},
        "ground_truth": {"gold_doc_ids": ["3"], "answer": "b"},
        "conversation_id": "c1",
        "expected_outcome": "It is said.",
        "trace_id": "0" * 30 + "ab",
        "span_id": "0" * 14 + "cd",
        "parent_span_id": "0" * 14 + "ef",
        "span_name": "lookup",
        "created_at": "2026-11-29T12:00:00+00:00",
        "sample_rate": 0.5,
    } == evaluator.event
    ((method, path, _, headers),) = evaluator.requests
    assert ("POST", "/v1/log/batch", "application/json", "Bearer key") == (
        method,
        path,
        headers["content-type"],
        headers["authorization"],
    )


def test_an_event_needs_little(evaluator: Evaluator, client: SeerClient) -> None:
    before = datetime.now(UTC)
    record_id = client.log(task="Who?", context=[])
    client.flush()
    event = dict(evaluator.event)

    assert before <= datetime.fromisoformat(event.pop("created_at")) <= datetime.now(UTC)
    assert record_id.startswith("rec_")
    assert {"record_id": record_id, "task": "Who?", "context": []} == event


def test_every_event_has_a_record_id_of_its_own(client: SeerClient) -> None:
    assert 100 == len({client.log(task="Who?", context=[]) for _ in range(100)})


def test_documents_are_taken_as_by_a_recording(evaluator: Evaluator, client: SeerClient) -> None:
    class Document:
        page_content = "b"
        metadata = {"source": "wiki"}  # noqa: RUF012  as frameworks have it
        id = "d1"

    class Index:
        """No document."""

    client.log(task="Who?", context=iter([Document(), {"page_content": "c"}, Index()]))
    client.flush()

    assert [
        {"text": "b", "id": "d1", "metadata": {"source": "wiki"}},
        "c",
        {"text": None},
    ] == evaluator.event["context"]


def test_a_context_is_read_when_it_is_logged(evaluator: Evaluator, client: SeerClient) -> None:
    context = ["a"]
    client.log(task="Who?", context=context)
    context.append("b")
    client.flush()

    assert ["a"] == evaluator.event["context"]


# The current trace.


def test_the_ids_of_the_current_span_are_taken(
    evaluator: Evaluator, client: SeerClient, provider: TracerProvider
) -> None:
    with provider.get_tracer("app").start_as_current_span("search") as span:
        client.log(task="Who?", context=[])
        client.log(task="Who?", context=[], use_otel_trace=False)
        client.log(task="Who?", context=[], trace_id="ab" * 16)
    client.flush()
    context = span.get_span_context()

    assert [
        (f"{context.trace_id:032x}", f"{context.span_id:016x}"),
        (None, None),
        ("ab" * 16, None),
    ] == [(event.get("trace_id"), event.get("span_id")) for event in evaluator.events]


def test_a_span_that_is_not_recorded_lends_no_ids(evaluator: Evaluator, client: SeerClient) -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    with provider.get_tracer("app").start_as_current_span("search"):
        client.log(task="Who?", context=[])
    client.flush()

    assert "trace_id" not in evaluator.event


def test_the_task_and_the_decision_of_a_request_hold(
    evaluator: Evaluator, client: SeerClient, provider: TracerProvider
) -> None:
    with request(task="Who?", sample_rate=1, tracer_provider=provider):
        client.log(context=[])
        client.log(context=[], task="Where?", sample_rate=0.25)
    with request(task="Who?", sample_rate=0, tracer_provider=provider):
        unsent = client.log(context=[])
        client.log(context=[], sample_rate=0.75)
    client.flush()

    assert [("Who?", 1.0), ("Where?", 0.25), ("Who?", 0.75)] == [
        (event["task"], event["sample_rate"]) for event in evaluator.events
    ]
    assert unsent.startswith("rec_")
    assert 3 == client.counts.entered


# In the background.


def test_events_that_come_together_go_together(evaluator: Evaluator, client: SeerClient) -> None:
    for _ in range(10):
        client.log(task="Who?", context=["a"])
    client.flush()

    assert (1, 10) == (len(evaluator.requests), len(evaluator.events))
    assert Counts(entered=10, shipped=10, dropped=0, waiting=0) == client.counts


def test_an_evaluator_that_hangs_holds_nobody_up_and_drops_are_counted(
    evaluator: Evaluator, client: SeerClient
) -> None:
    evaluator.may_answer.clear()
    for _ in range(shipping.BATCH):
        client.log(task="Who?", context=[])
    evaluator.came.wait(60)
    for _ in range(shipping.QUEUE + 100):
        client.log(task="Who?", context=[])

    assert 100 == client.counts.dropped
    assert client.flush(0.01) is False
    evaluator.may_answer.set()


def test_an_evaluator_that_is_busy_is_asked_again(
    evaluator: Evaluator, client: SeerClient, caplog: pytest.LogCaptureFixture
) -> None:
    evaluator.answers = [(503, {}), (200, {})]
    client.log(task="Who?", context=[])

    assert [False, True] == [client.flush(), client.flush()]
    assert 1 == client.counts.shipped
    assert ["The evaluator takes no events for now: status 503"] == caplog.messages


def test_an_evaluator_that_is_away_raises_nothing(
    nobody: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = SeerClient(nobody)
    client.log(task="Who?", context=[])
    client.close(60)

    assert Counts(entered=1, shipped=0, dropped=1, waiting=0) == client.counts
    assert "1 events could not be shipped before the end" == caplog.messages[-1]


def test_an_event_that_is_refused_is_counted_and_says_why(
    evaluator: Evaluator, client: SeerClient, caplog: pytest.LogCaptureFixture
) -> None:
    errors = [{"field": "trace_id", "message": "expected 32 digits"}]
    refused = {"accepted": False, "errors": errors}
    evaluator.answers = [(200, {"results": [{"accepted": True}, refused]})]
    client.log(task="Who?", context=["a"])
    client.log(task="Who?", context=["a"], trace_id="ab")
    client.flush()

    assert (1, 1) == (client.counts.shipped, client.counts.dropped)
    assert ["The evaluator rejects 1 of 2 events: trace_id: expected 32 digits"] == caplog.messages


def test_a_context_that_cannot_be_read_costs_its_event_alone(
    evaluator: Evaluator, client: SeerClient, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Iterator[str]:
        yield "secret"
        raise TypeError("secret")

    record_id = client.log(task="Who?", context=broken())
    client.log(task="Who?", context=["a"])
    client.flush()

    assert record_id.startswith("rec_")
    assert ["a"] == evaluator.event["context"]
    assert Counts(entered=2, shipped=1, dropped=1, waiting=0) == client.counts
    assert ["An event could not be encoded: TypeError"] == caplog.messages


def test_a_wrong_call_is_raised(client: SeerClient) -> None:
    with pytest.raises(TypeError, match="colour"):
        client.log(task="Who?", context=[], colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="context"):
        client.log(task="Who?")  # type: ignore[call-arg]


def test_after_the_end_nothing_is_taken(evaluator: Evaluator, client: SeerClient) -> None:
    client.log(task="Who?", context=["a"])
    client.close()
    client.log(task="Who?", context=["b"])

    assert ["a"] == evaluator.event["context"]
    assert (1, 1) == (client.counts.shipped, client.counts.dropped)


# Settings.


def test_the_environment_names_evaluator_and_key(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEER_ENDPOINT", f"{evaluator.url}/base/")
    monkeypatch.setenv("SEER_API_KEY", "k")
    monkeypatch.setenv("SEER_SEND", "off")  # of spans
    with SeerClient(headers={"X-Tenant": "a"}) as client:
        client.log(task="Who?", context=[])
    ((_, path, _, headers),) = evaluator.requests

    assert ("/base/v1/log/batch", "Bearer k", "a") == (
        path,
        headers["authorization"],
        headers["x-tenant"],
    )


def test_a_wrong_endpoint_argument_is_an_error() -> None:
    with pytest.raises(ConfigError, match="endpoint"):
        SeerClient("evaluator:4318")


def test_a_wrong_endpoint_variable_stops_no_application(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEER_ENDPOINT", "evaluator:4318")
    client = SeerClient()

    assert client.log(task="Who?", context=[]).startswith("rec_")
    assert 1 == client.counts.dropped
    with pytest.raises(EvaluatorRefused, match="SEER_ENDPOINT is no"):
        client.record("rec_1")


# Verdicts.


def test_a_verdict_is_waited_for(evaluator: Evaluator, client: SeerClient) -> None:
    evaluator.answers = [(200, {**asdict(RECORD), "of_a_later_release": 1})]

    assert RECORD == client.evaluate(task="Who?", context=["a"], record_id="rec_1")
    ((method, path, body, _),) = evaluator.requests
    assert ("POST", "/v1/evaluate", "rec_1", ["a"]) == (
        method,
        path,
        body["record_id"],
        body["context"],
    )


def test_a_busy_evaluator_is_asked_again_for_the_same_verdict(
    evaluator: Evaluator, client: SeerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("seer_otel.instrument.client.time.sleep", pauses.append)
    evaluator.answers = [(503, {}), (429, {}), (200, asdict(RECORD))]
    evaluator.headers = {"retry-after": "7"}

    assert RECORD == client.evaluate(task="Who?", context=["a"])
    assert [7.0, 7.0] == pauses
    assert 1 == len({body["record_id"] for _, _, body, _ in evaluator.requests})


def test_a_busy_evaluator_is_not_waited_for_longer_than_said(
    evaluator: Evaluator, client: SeerClient
) -> None:
    evaluator.answers = [(503, {"message": "the hold is full"})]
    evaluator.headers = {"retry-after": "60"}

    with pytest.raises(EvaluatorBusy, match="answered 503: the hold is full") as error:
        client.evaluate(task="Who?", context=["a"], timeout_s=5)
    assert 60.0 == error.value.delay_s


def test_a_refused_event_says_why(evaluator: Evaluator, client: SeerClient) -> None:
    evaluator.answers = [(422, {"message": "context[0]: expected a text"})]

    with pytest.raises(EvaluatorRefused, match=r"answered 422: context\[0\]: expected a text"):
        client.evaluate(task="Who?", context=["a"])


@pytest.mark.parametrize("answer", ["<html>", {}, {"record_id": "a"}, [1]])
def test_what_is_no_evaluator_is_refused(
    evaluator: Evaluator, client: SeerClient, answer: Any
) -> None:
    evaluator.answers = [(200, answer)]

    with pytest.raises(EvaluatorRefused, match="no evaluator"):
        client.evaluate(task="Who?", context=["a"])


def test_an_evaluator_that_is_away_is_said_to_be(nobody: str) -> None:
    with pytest.raises(EvaluatorBusy, match=r"127\.0\.0\.1:\d+ does not answer \(Connection"):
        SeerClient(nobody).evaluate(task="Who?", context=["a"])


def test_a_record_is_looked_up(evaluator: Evaluator, client: SeerClient) -> None:
    evaluator.answers = [
        (200, asdict(RECORD)),
        (202, {"record_id": "a/b", "evaluated": "pending"}),
        (404, {"message": "no such record"}),
    ]

    assert [RECORD, Record("a/b", "pending"), None] == [
        client.record("rec_1"),
        client.record("a/b"),
        client.record("rec_2"),
    ]
    assert ["/v1/records/rec_1", "/v1/records/a%2Fb", "/v1/records/rec_2"] == [
        path for _, path, _, _ in evaluator.requests
    ]


async def test_the_same_for_asyncio(evaluator: Evaluator) -> None:
    evaluator.answers = [(200, asdict(RECORD))]
    async with AsyncSeerClient(evaluator.url) as client:
        client.log(task="Who?", context=["a"])
        flushed = await client.flush()
        records = await asyncio.gather(
            client.evaluate(task="Who?", context=["a"]), client.record("rec_1")
        )

    assert flushed is True
    assert (RECORD, RECORD) == tuple(records)
    assert Counts(entered=1, shipped=1, dropped=0, waiting=0) == client.counts


async def test_an_awaited_verdict_holds_up_nothing_else(evaluator: Evaluator) -> None:
    evaluator.answers = [(200, asdict(RECORD))]
    evaluator.may_answer.clear()
    client = AsyncSeerClient(evaluator.url)
    waiting = asyncio.create_task(client.evaluate(task="Who?", context=["a"]))
    await asyncio.to_thread(evaluator.came.wait, 60)
    evaluator.may_answer.set()

    assert RECORD == await waiting
