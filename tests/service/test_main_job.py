"""The main job: a retrieval comes in, its scores leave on it."""

import pytest

from seer_otel.evaluator.telemetry import metrics
from tests.service.conftest import Start
from tests.service.spans import TASK, attributes, event, request, retrieval, span


async def test_a_retrieval_leaves_with_its_scores(start: Start) -> None:
    service = await start()
    await service.send(request(retrieval(2, parent=1), span(1, "POST /ask")))
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    (scored,) = service.backend.named("retrieval")

    assert {
        "seer.evaluated": "scored",
        "seer.verdict": "complete",
        "seer.eval.task.recall": 1.0,
    }.items() <= attributes(scored).items()
    task = event(scored, "task")
    assert [1.0, pytest.approx(2 / 3), pytest.approx(0.8), 1.0] == [
        task[f"seer.{score}"] for score in ("recall", "precision", "f1", "ndcg")
    ]
    assert "seer.task" == task["seer.task_source"]
    await service.stop()
    service.assert_accounted()


async def test_what_is_not_ours_passes_byte_for_byte(start: Start) -> None:
    service = await start()
    body = request(span(1, "GET /"), span(2, "SELECT", parent=1))
    await service.send(body)

    assert [("traces", body)] == service.backend.requests


async def test_the_span_itself_is_kept_before_what_is_appended(start: Start) -> None:
    service = await start()
    original = retrieval(1)
    await service.send(request(original))
    await service.backend.until(lambda: bool(service.backend.spans))
    (scored,) = service.backend.spans

    assert scored.SerializeToString().startswith(original.SerializeToString()[:20])
    assert list(original.attributes) == list(scored.attributes)[: len(original.attributes)]
    (sent,) = service.backend.traces
    assert "https://example.org/schema" == sent.resource_spans[0].schema_url


async def test_the_task_comes_from_an_ancestor_that_arrives_later(start: Start) -> None:
    service = await start()
    await service.send(
        request(retrieval(2, parent=1, task=None, subquery="Who directed Inception?"))
    )
    await service.send(request(span(1, "ask", input__value=TASK)))
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    (scored,) = service.backend.named("retrieval")

    assert "ancestor" == event(scored, "task")["seer.task_source"]
    assert 2 == event(scored, "task")["seer.requirements.total"]
    assert 1 == event(scored, "subquery")["seer.requirements.total"]
    assert 1 == len(service.judge.questions)


async def test_what_was_not_sampled_passes_and_says_so(start: Start) -> None:
    service = await start(sample_rate=0.0)
    await service.send(request(retrieval(1)))
    (passed,) = service.backend.spans

    assert ("skipped", "not_sampled") == (
        attributes(passed)["seer.evaluated"],
        attributes(passed)["seer.skip_reason"],
    )
    service.assert_accounted()


async def test_a_span_delivered_twice_is_judged_and_forwarded_once(start: Start) -> None:
    service = await start()
    body = request(retrieval(1))
    await service.send(body)
    await service.send(body)
    await service.backend.until(lambda: bool(service.backend.spans))
    await service.send(body)
    await service.stop()

    assert 1 == len(service.judge.questions)
    assert {1} == set(service.backend.counts.values())
    assert 2 == service.total(metrics.DUPLICATE)
    service.assert_accounted()


async def test_a_verdict_after_the_deadline_follows_on_a_carrier(start: Start) -> None:
    service = await start(judge=None, hold__seconds=0.4, trace_results__send="marked")
    service.judge.delay_s = 0.8
    await service.send(request(retrieval(1)))
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    late, carrier = service.backend.spans

    assert ("deferred", "deadline") == (
        attributes(late)["seer.evaluated"],
        attributes(late)["seer.skip_reason"],
    )
    assert [] == list(late.events)
    assert (late.span_id, "seer.evaluation") == (carrier.parent_span_id, carrier.name)
    assert [late.span_id] == [link.span_id for link in carrier.links]
    assert late.end_time_unix_nano == carrier.start_time_unix_nano == carrier.end_time_unix_nano
    assert 1.0 == event(carrier, "task")["seer.recall"]


async def test_a_copy_is_judged_and_only_its_carrier_leaves(start: Start) -> None:
    service = await start(trace_results__send="marked")
    await service.send(request(retrieval(2, parent=1), span(1, "root")), **{"seer-forward": "no"})
    await service.backend.until(lambda: bool(service.backend.spans))
    await service.stop()
    (carrier,) = service.backend.spans

    assert (2).to_bytes(8, "big") == carrier.parent_span_id
    assert 2 == service.total(metrics.JUDGED_ONLY)
    service.assert_accounted()


async def test_a_span_whose_copy_was_judged_passes_as_it_came(start: Start) -> None:
    service = await start(trace_results__send="marked")
    body = request(retrieval(1))
    await service.send(body, **{"seer-forward": "no"})
    await service.backend.until(lambda: bool(service.backend.spans))
    await service.send(body)
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    await service.stop()

    assert body == service.backend.requests[1][1]
    assert 1 == len(service.judge.questions)
    service.assert_accounted()


async def test_a_marked_final_context_carries_the_result_of_its_trace(start: Start) -> None:
    service = await start()
    await service.send(
        request(
            span(9, "root"),
            retrieval(1, parent=9, end_ms=10, context=["nothing"]),
            retrieval(2, parent=9, end_ms=20, seer__is_final_context=True),
        )
    )
    await service.backend.until(lambda: len(service.backend.spans) == 3)
    (final,) = (s for s in service.backend.spans if s.span_id == (2).to_bytes(8, "big"))

    assert 1.0 == event(final, "trace")["seer.cumulative_recall"]
    assert [1, 2] == event(final, "task")["seer.requirements.new"]


async def test_an_unmarked_trace_gets_its_result_when_it_is_idle(start: Start) -> None:
    service = await start(trace_results__idle=0.3)
    await service.send(request(span(9, "root"), retrieval(1, parent=9), retrieval(2, parent=9)))
    await service.backend.until(lambda: len(service.backend.spans) == 4)
    (carrier,) = service.backend.named("seer.evaluation")

    assert 1.0 == event(carrier, "trace")["seer.recall"]
    assert 1.0 == event(carrier, "trace")["seer.redundancy"]


async def test_evaluated_spans_and_carriers_that_come_back_pass_untouched(start: Start) -> None:
    service = await start(trace_results__idle=0.3)
    await service.send(request(span(9, "root"), retrieval(1, parent=9)))
    await service.backend.until(lambda: len(service.backend.spans) == 3)
    back = [body for _, body in service.backend.requests]
    for body in back:
        await service.send(body)

    assert back == [body for _, body in service.backend.requests[len(back) :]]
    assert 1 == len(service.judge.questions)


async def test_a_span_whose_copy_is_still_held_gets_its_results_inline(start: Start) -> None:
    service = await start(trace_results__send="marked")
    service.judge.delay_s = 0.3
    body = request(retrieval(1))
    await service.send(body, **{"seer-forward": "no"})
    await service.send(body)
    await service.backend.until(lambda: bool(service.backend.spans))
    await service.stop()
    (scored,) = service.backend.spans

    assert 1.0 == event(scored, "task")["seer.recall"]
    assert (1, 1) == (service.total(metrics.JUDGED_ONLY), service.total(metrics.FORWARDED))
    service.assert_accounted()
