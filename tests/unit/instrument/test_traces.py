"""What is remembered of running traces is bounded, and the first decision stands."""

from opentelemetry.trace import SpanContext

from seer_otel.instrument.scope import Scope
from seer_otel.instrument.traces import OpenSpan, Traces


def span(number: int, trace: int = 1) -> SpanContext:
    return SpanContext(trace, number, is_remote=False)


def test_everything_above_a_retrieval_is_wanted() -> None:
    traces = Traces()
    traces.started(span(1), None, Scope())
    traces.started(span(2), span(1), Scope("task"))
    traces.started(span(3), span(1), Scope())
    traces.want_ancestors(span(2))

    assert OpenSpan(span(1), Scope("task"), above_retrieval=True) == traces.ended(span(2))
    assert OpenSpan(span(1), Scope(), above_retrieval=False) == traces.ended(span(3))
    assert OpenSpan(None, Scope(), above_retrieval=True) == traces.ended(span(1))
    assert traces.ended(span(1)) is None


def test_a_parent_of_another_process_ends_the_search() -> None:
    traces = Traces()
    traces.want_ancestors(span(9))

    assert traces.ended(span(9)) is None


def test_a_circle_of_parents_ends() -> None:
    traces = Traces()
    traces.started(span(1), span(2), Scope())
    traces.started(span(2), span(1), Scope())
    traces.want_ancestors(span(1))

    assert traces.ended(span(2)) == OpenSpan(span(1), Scope(), above_retrieval=True)


def test_spans_that_never_end_are_forgotten_oldest_first() -> None:
    traces = Traces(open_spans=2)
    for number in (1, 2, 3):
        traces.started(span(number), None, Scope())

    assert [False, True, True] == [traces.ended(span(n)) is not None for n in (1, 2, 3)]


def test_the_first_decision_of_a_trace_stands() -> None:
    traces = Traces()

    assert traces.decision(7) is None
    assert [False, False] == [traces.decide(7, False), traces.decide(7, True)]
    assert traces.decision(7) is False


def test_decisions_are_forgotten_oldest_first() -> None:
    traces = Traces(decisions=2)
    for trace in (1, 2, 3):
        traces.decide(trace, True)

    assert [None, True, True] == [traces.decision(trace) for trace in (1, 2, 3)]
