"""Spans leave in the background, bounded; what does not leave is counted."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from opentelemetry import context
from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from seer_otel.instrument import shipping
from seer_otel.instrument.evaluator_client import Answer
from seer_otel.instrument.shipping import Counts, Shipper

TAKEN = Answer("taken")
AWAY = Answer("busy", detail="ConnectionRefusedError")


@dataclass
class Evaluator:
    """Answers by a script, the last answer for ever; keeps what it took."""

    answers: list[Answer] = field(default_factory=lambda: [TAKEN])
    names: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    attempts: int = 0
    entered: threading.Event = field(default_factory=threading.Event)
    may_answer: threading.Event = field(default_factory=threading.Event)
    took: threading.Event = field(default_factory=threading.Event)
    suppressed: object = None

    def post(self, body: bytes) -> Answer:
        self.attempts += 1
        self.suppressed = context.get_value(_SUPPRESS_INSTRUMENTATION_KEY)
        self.entered.set()
        self.may_answer.wait(60)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.state == "taken":
            request = ExportTraceServiceRequest.FromString(body)
            spans = [s.name for r in request.resource_spans for s in r.scope_spans[0].spans]
            self.names += spans
            self.sizes.append(len(spans))
            self.took.set()
        return answer


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    """An evaluator that answers at once."""
    evaluator = Evaluator()
    evaluator.may_answer.set()
    yield evaluator
    evaluator.may_answer.set()


@pytest.fixture
def shipper(evaluator: Evaluator) -> Iterator[Shipper]:
    shipper = Shipper(evaluator.post, linger_s=60, first_pause_s=60)
    yield shipper
    shipper.shut_down()


@pytest.fixture
def named() -> Callable[[str], ReadableSpan]:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("app")

    def end(name: str) -> ReadableSpan:
        span = tracer.start_span(name)
        span.end()
        assert isinstance(span, ReadableSpan)
        return span

    return end


Named = Callable[[str], ReadableSpan]


def test_a_flush_ships_what_waits(evaluator: Evaluator, shipper: Shipper, named: Named) -> None:
    for name in ("a", "b"):
        shipper.put(named(name))

    assert shipper.flush(60) is True
    assert (["a", "b"], [2]) == (evaluator.names, evaluator.sizes)
    assert Counts(entered=2, shipped=2, dropped=0, waiting=0) == shipper.counts


def test_a_flush_of_nothing_is_done(shipper: Shipper) -> None:
    assert shipper.flush(60) is True


def test_without_a_flush_it_waits_only_for_company(evaluator: Evaluator, named: Named) -> None:
    evaluator.may_answer.clear()
    shipper = Shipper(evaluator.post, linger_s=0)
    shipper.put(named("a"))

    assert evaluator.entered.wait(60)
    evaluator.may_answer.set()
    shipper.shut_down()


def test_a_full_batch_does_not_wait(evaluator: Evaluator, shipper: Shipper, named: Named) -> None:
    for number in range(shipping.BATCH):
        shipper.put(named(str(number)))

    assert evaluator.entered.wait(60)


def test_its_own_requests_are_not_traced(
    evaluator: Evaluator, shipper: Shipper, named: Named
) -> None:
    shipper.put(named("a"))
    shipper.flush(60)

    assert evaluator.suppressed is True


def test_a_hanging_evaluator_holds_nobody_up_and_drops_are_counted(
    evaluator: Evaluator, named: Named, caplog: pytest.LogCaptureFixture
) -> None:
    evaluator.may_answer.clear()
    shipper = Shipper(evaluator.post, linger_s=0)
    shipper.put(named("first"))
    evaluator.entered.wait(60)
    span = named("later")
    for _ in range(5_000):
        shipper.put(span)

    assert (
        Counts(
            entered=5_001,
            shipped=0,
            dropped=5_000 - shipping.QUEUE,
            waiting=1 + shipping.QUEUE,
        )
        == shipper.counts
    )
    assert ["1024 spans wait to be shipped: the oldest are dropped"] == caplog.messages
    assert shipper.flush(0.01) is False
    evaluator.may_answer.set()
    shipper.shut_down()
    assert 1 + shipping.QUEUE == shipper.counts.shipped


def test_the_end_is_bounded_and_says_what_was_not_sent(
    evaluator: Evaluator, named: Named, caplog: pytest.LogCaptureFixture
) -> None:
    evaluator.may_answer.clear()
    shipper = Shipper(evaluator.post, linger_s=0)
    for number in range(100):
        shipper.put(named(str(number)))
    evaluator.entered.wait(60)
    shipper.shut_down(timeout_s=0.01)
    evaluator.may_answer.set()

    assert Counts(entered=100, shipped=0, dropped=100, waiting=0) == shipper.counts
    assert ["100 spans could not be shipped before the end"] == caplog.messages


def test_the_end_ships_what_waits(evaluator: Evaluator, shipper: Shipper, named: Named) -> None:
    for number in range(100):
        shipper.put(named(str(number)))
    shipper.shut_down()

    assert 100 == len(evaluator.names)


def test_where_no_thread_can_be_started_any_more_the_end_ships_what_waits(
    evaluator: Evaluator, shipper: Shipper, named: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Python 3.12 on, so it is while the interpreter is on its way out."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    shipper.put(named("last words"))

    assert not shipper.flush(60)
    shipper.shut_down()
    assert ["last words"] == evaluator.names
    assert Counts(1, 1, 0, 0) == shipper.counts


def test_at_the_end_an_evaluator_that_is_away_is_not_waited_for(
    evaluator: Evaluator, shipper: Shipper, named: Named
) -> None:
    evaluator.answers = [AWAY]
    for number in range(100):
        shipper.put(named(str(number)))
    shipper.shut_down(timeout_s=60)

    assert 100 == shipper.counts.dropped


def test_after_the_end_nothing_is_taken(shipper: Shipper, named: Named) -> None:
    shipper.shut_down()
    shipper.shut_down()
    shipper.put(named("late"))

    assert Counts(entered=1, shipped=0, dropped=1, waiting=0) == shipper.counts
    assert shipper.flush(60) is True


def test_an_evaluator_that_comes_back_gets_what_waited(
    evaluator: Evaluator, shipper: Shipper, named: Named, caplog: pytest.LogCaptureFixture
) -> None:
    evaluator.answers = [AWAY, AWAY, AWAY, TAKEN]
    shipper.put(named("a"))

    assert [False, False, False, True] == [shipper.flush(60) for _ in range(4)]
    assert (["a"], 4) == (evaluator.names, evaluator.attempts)
    assert ["The evaluator takes no spans for now: ConnectionRefusedError"] == caplog.messages


def test_an_evaluator_that_is_away_is_tried_again_unasked(
    evaluator: Evaluator, named: Named
) -> None:
    evaluator.answers = [AWAY, AWAY, TAKEN]
    shipper = Shipper(evaluator.post, linger_s=0, first_pause_s=0.001)
    shipper.put(named("a"))

    assert evaluator.took.wait(60)
    shipper.shut_down()
    assert (["a"], 3) == (evaluator.names, evaluator.attempts)


def test_a_refusal_is_final(
    evaluator: Evaluator, shipper: Shipper, named: Named, caplog: pytest.LogCaptureFixture
) -> None:
    evaluator.answers = [Answer("refused", detail="status 401")]
    for name in ("a", "b"):
        shipper.put(named(name))
        assert shipper.flush(60) is True

    assert (2, Counts(entered=2, shipped=0, dropped=2, waiting=0)) == (
        evaluator.attempts,
        shipper.counts,
    )
    assert ["The evaluator refuses spans: status 401"] == caplog.messages


def test_a_rejection_among_others_is_counted(
    evaluator: Evaluator, shipper: Shipper, named: Named
) -> None:
    evaluator.answers = [Answer("taken", rejected=1)]
    for name in ("a", "b", "c"):
        shipper.put(named(name))
    shipper.flush(60)

    assert Counts(entered=3, shipped=2, dropped=1, waiting=0) == shipper.counts


def test_a_request_is_no_larger_than_may_be(
    evaluator: Evaluator,
    shipper: Shipper,
    named: Named,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shipping, "REQUEST_BYTES", 3_000)
    for name in ("a" * 1_000, "b" * 1_000, "c" * 9_000, "d"):
        shipper.put(named(name))
    shipper.flush(60)

    assert [2, 1, 1] == evaluator.sizes


def test_a_span_that_cannot_be_encoded_goes_alone(
    evaluator: Evaluator, shipper: Shipper, named: Named, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "secret \ud800", "b"):
        shipper.put(named(name))
    shipper.flush(60)

    assert ["a", "b"] == evaluator.names
    assert 1 == shipper.counts.dropped
    assert ["A span could not be encoded: UnicodeEncodeError"] == caplog.messages


def test_an_attempt_that_raises_does_not_end_the_shipping(named: Named) -> None:
    raised = threading.Event()

    def post(body: bytes) -> Answer:
        if not raised.is_set():
            raised.set()
            raise RuntimeError("secret content")
        return TAKEN

    shipper = Shipper(post, linger_s=60)
    for name in ("a", "b"):
        shipper.put(named(name))
        shipper.flush(60)
    shipper.shut_down()

    assert Counts(entered=2, shipped=1, dropped=1, waiting=0) == shipper.counts
