"""What is remembered of traces stays bounded, however many are open."""

from collections.abc import Iterable

import pytest

from seer_otel.dialects.trace import Node, Resolution, TraceReading
from seer_otel.evaluator.work import traces
from seer_otel.evaluator.work.traces import Traces


def node(trace: int, span: int = 1, parent: int | None = None, asked: str | None = None) -> Node:
    above = None if parent is None else f"{parent:016x}"
    return Node(f"{trace:032x}", f"{span:016x}", above, input=asked)


def known(view: Traces, count: int) -> list[int]:
    return [n for n in range(1, count + 1) if f"{n:032x}" in view]


def test_ten_thousand_traces_are_open_at_once_and_the_oldest_make_room() -> None:
    view = Traces(max_traces=1_000)
    for number in range(1, 10_001):
        view.note([node(number)], float(number))

    assert list(range(9_001, 10_001)) == known(view, 10_000)
    assert 9_000 == view.evicted


def test_many_spans_make_room_as_many_traces_do() -> None:
    view = Traces(max_nodes=100)
    for number in range(1, 11):
        view.note([node(number, span) for span in range(1, 31)], float(number))

    assert [8, 9, 10] == known(view, 10)


def test_long_questions_make_room_too() -> None:
    view = Traces(max_characters=1_000)
    for number in range(1, 11):
        view.note([node(number, asked="?" * 300)], float(number))

    assert [8, 9, 10] == known(view, 10)


def test_ended_traces_go_first_and_those_with_an_open_retrieval_never() -> None:
    view = Traces(max_traces=3)
    view.note([node(1)], 1.0)
    view.of(f"{1:032x}", 1.0).open.add(f"{1:016x}")
    view.note([node(2)], 2.0)
    view.note([node(3)], 3.0)
    assert [1, 2] == [int(trace.trace_id, 16) for trace in view.idle(5.0, 3.0)]

    view.note([node(4)], 6.0)
    view.note([node(5)], 7.0)

    assert [1, 4, 5] == known(view, 5)


def test_a_trace_without_end_stops_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "MAX_NODES_OF_TRACE", 10)
    view = Traces()
    view.note([node(1, span) for span in range(1, 100)], 1.0)

    assert 10 == len(view.of(f"{1:032x}", 1.0).nodes)


def test_a_trace_is_read_once_for_all_that_came_together(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = []

    def resolve(nodes: Iterable[Node]) -> TraceReading:
        readings.append(len(list(nodes)))
        return TraceReading({f"{span:016x}": Resolution("retrieval") for span in range(1, 31)})

    monkeypatch.setattr("seer_otel.dialects.trace.resolve", resolve)
    view = Traces()
    for number in (1, 11, 21):
        view.note([node(1, span) for span in range(number, number + 10)], 1.0)
        for span in range(number, number + 10):
            view.of(f"{1:032x}", 1.0).resolution(f"{span:016x}")

    assert [10, 20, 30] == readings


def test_what_encloses_a_retrieval_under_judgement_comes_too_late() -> None:
    trace = Traces().of(f"{1:032x}", 1.0)
    trace.add(node(1, span=4, parent=3))
    trace.begin(f"{4:016x}")
    before = trace.came_too_late(f"{2:016x}")
    trace.add(node(1, span=3, parent=2))

    assert not before
    assert trace.came_too_late(f"{2:016x}")
    trace.give_up(f"{4:016x}")
    assert not trace.came_too_late(f"{2:016x}")
