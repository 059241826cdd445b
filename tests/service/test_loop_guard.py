"""What the evaluator made, or asked, never comes to be judged."""

import json

from opentelemetry import context, trace
from opentelemetry.sdk.trace import TracerProvider

from seer_otel.dialects import otlp
from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ChatReply, ChatStub
from tests.service.conftest import Start
from tests.service.spans import CONTEXT, TASK, attributes, request, retrieval, span

NEEDS = ChatReply('{"requirements": ["who directed Inception"]}')


async def test_everything_it_sent_passes_untouched_when_it_comes_back(start: Start) -> None:
    """Inline results, carriers, results of traces, and what left without scores."""
    service = await start(trace_results__idle=0.3)
    await service.send(request(span(9, "root"), retrieval(1, parent=9)))
    await service.send(request(retrieval(2, trace=b"c" * 16)), **{"seer-forward": "no"})
    await service.send(request(retrieval(3, trace=b"s" * 16, seer__sampled=False)))
    await service.send(request(retrieval(4, trace=b"n" * 16, context=["", " "], task=None)))
    await service.backend.until(lambda: len(service.backend.spans) >= 7)
    sent = [body for _, body in service.backend.requests]
    asked = len(service.judge.questions)
    for body in sent:
        await service.send(body)
        await service.send(body, **{"seer-forward": "no"})

    assert sent == [body for _, body in service.backend.requests[len(sent) :]]
    assert asked == len(service.judge.questions)
    assert service.total(metrics.EVALUATED_BEFORE) >= 8
    service.assert_accounted()


async def test_so_it_does_as_json(start: Start) -> None:
    service = await start(trace_results__send="marked")
    await service.send(request(retrieval(1)))
    await service.backend.until(lambda: len(service.backend.spans) == 1)
    answer = await service.http.post(
        "/v1/traces",
        content=otlp.to_json(service.backend.traces[0]),
        headers={"content-type": "application/json"},
    )

    assert 200 == answer.status_code
    assert service.backend.spans[0] == service.backend.spans[1]
    assert 1 == len(service.judge.questions)


async def test_calls_of_a_judge_are_not_judged(start: Start) -> None:
    """As an instrumentation would write them: with everything that was shown to the model."""
    service = await start()
    prompt = json.dumps([{"role": "user", "content": json.dumps(CONTEXT)}])
    chat = span(1, "chat m", gen_ai__operation__name="chat", gen_ai__input__messages=prompt)
    http = span(2, "POST", url__full="http://judge/v1/chat/completions")
    body = request(chat, http)
    await service.send(body)

    assert [("traces", body)] == service.backend.requests
    assert [] == service.judge.questions
    assert 0 == service.total(metrics.RETRIEVALS)


async def test_its_own_calls_carry_no_trace_on(start: Start) -> None:
    async with ChatStub(lambda _: NEEDS) as stub:
        service = await start(
            judge__base_url=stub.base_url, judge__kind="openai", judge__model="m",
            trace_results__send="marked",
        )  # fmt: skip
        tracer = TracerProvider(shutdown_on_exit=False).get_tracer("around")
        token = context.attach(trace.set_span_in_context(tracer.start_span("around")))
        try:
            await service.send(request(retrieval(1)))
            await service.backend.until(lambda: len(service.backend.spans) == 1)
        finally:
            context.detach(token)
        await service.stop()

    assert stub.requests
    assert not [h for headers in stub.headers for h in headers if h in ("traceparent", "baggage")]
    assert TASK not in str(stub.headers)
    assert "seer.evaluated" in attributes(service.backend.spans[0])
