"""What is remembered of traces stays bounded, however many are open."""

import pytest

from seer_otel.dialects.trace import Node
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
