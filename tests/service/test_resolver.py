"""Retrievals whose documents came as ids alone are judged where a resolver finds the texts."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.service.conftest import Service, Start
from tests.service.spans import DIRECTED, NATIONALITY, TASK, attributes, event, request, span
from tests.service.texts import Texts, texts


@pytest.fixture
def endpoint() -> Iterator[Texts]:
    with texts({"d1": DIRECTED, "d2": NATIONALITY, "blank": " "}) as running:
        yield running


def ids_alone(number: int, *ids: str, **more: Any) -> Span:
    return span(
        number,
        "retrieval",
        gen_ai__operation__name="retrieval",
        gen_ai__retrieval__query__text=TASK,
        gen_ai__retrieval__documents=json.dumps([{"id": i, "score": None} for i in ids]),
        **more,
    )


async def sent(service: Service, *spans: Span) -> Span:
    await service.send(request(*spans))
    await service.backend.until(lambda: len(service.backend.spans) == len(spans))
    return service.backend.named("retrieval")[0]


async def test_without_a_resolver_it_is_no_content(start: Start) -> None:
    passed = await sent(await start(), ids_alone(1, "d1", "d2"))

    assert "no_content" == attributes(passed)["seer.skip_reason"]


async def test_with_a_resolver_it_is_judged(start: Start, endpoint: Texts) -> None:
    scored = await sent(await start(resolver__url=endpoint.url), ids_alone(1, "d1", "d2"))

    assert (1.0, 1.0) == (event(scored, "task")["seer.recall"], event(scored, "task")["seer.ndcg"])
    assert [["d1", "d2"]] == endpoint.asked


async def test_what_has_still_no_text_is_no_passage(start: Start, endpoint: Texts) -> None:
    service = await start(resolver__url=endpoint.url)
    scored = await sent(service, ids_alone(1, "d1", "gone", "blank"))
    task = event(scored, "task")

    assert (0.5, 1, 1.0) == (
        task["seer.recall"],
        task["seer.passages.total"],
        task["seer.precision"],
    )


async def test_where_no_text_is_found_it_is_no_content(start: Start, endpoint: Texts) -> None:
    passed = await sent(await start(resolver__url=endpoint.url), ids_alone(1, "gone"))

    assert ("skipped", "no_content") == (
        attributes(passed)["seer.evaluated"],
        attributes(passed)["seer.skip_reason"],
    )


async def test_a_resolver_that_fails_costs_the_scores_and_shows(
    start: Start, endpoint: Texts
) -> None:
    endpoint.status = 503
    service = await start(resolver__url=endpoint.url)
    passed = await sent(service, ids_alone(1, "d1"))

    assert "no_content" == attributes(passed)["seer.skip_reason"]
    assert "HTTP 503" in (await service.http.get("/readyz")).text


async def test_what_has_texts_is_not_looked_up(start: Start, endpoint: Texts) -> None:
    service = await start(resolver__url=endpoint.url)
    inner = span(
        2,
        "chroma",
        parent=1,
        gen_ai__operation__name="retrieval",
        gen_ai__retrieval__documents=json.dumps([{"id": "d1", "content": DIRECTED}]),
    )
    outer = await sent(service, inner, ids_alone(1, "d1"))

    assert "nested" == attributes(outer)["seer.skip_reason"]
    assert [] == endpoint.asked


async def test_tool_calls_are_judged_where_they_are_named(start: Start) -> None:
    call: dict[str, Any] = {
        "gen_ai__operation__name": "execute_tool",
        "gen_ai__tool__name": "lookup",
        "gen_ai__tool__call__arguments": json.dumps({"query": TASK}),
        "gen_ai__tool__call__result": json.dumps({"documents": [{"content": DIRECTED}]}),
    }
    service = await start(tools="search, lookup")
    await service.send(request(span(1, "named", **call)))
    await service.send(request(span(2, "other", **call | {"gen_ai__tool__name": "weather"})))
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    (scored,), (passed,) = service.backend.named("named"), service.backend.named("other")

    assert 0.5 == event(scored, "task")["seer.recall"]
    assert "seer.evaluated" not in attributes(passed)
