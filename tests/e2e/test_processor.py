"""The processor alone, no Collector: results on carriers, nothing doubled."""

from collections import Counter
from pathlib import Path

from .jaeger import Jaeger, StoredSpan, copies
from .processes import wait_until
from .stack import Addresses, run_application, running_evaluator

QUESTIONS = 5


def test_every_span_once_and_every_retrieval_with_one_carrier(
    jaeger: Jaeger, tmp_path: Path
) -> None:
    """The application exports to Jaeger as ever; copies of its retrievals go to be judged."""
    addresses = Addresses.free()
    with running_evaluator(
        addresses, forward=jaeger.otlp_http, protocol="http/protobuf", folder=tmp_path
    ) as evaluator:
        exported = run_application(
            "seer_app",
            count=QUESTIONS,
            endpoint=f"http://{jaeger.otlp_http}",
            service="processor-alone",
            environment={"SEER_ENDPOINT": f"http://{addresses.evaluator_http}"},
        )
        trace_ids = {span.key[0] for span in exported}
        stored: list[StoredSpan] = []

        def all_are_judged() -> bool:
            stored[:] = jaeger.traces(trace_ids)
            scopes = Counter(s for span in stored if span.is_carrier for s in _scopes(span))
            return scopes >= Counter(task=3 * QUESTIONS, subquery=QUESTIONS, trace=QUESTIONS)

        wait_until(all_are_judged, 30, evaluator.said)
    # The evaluator has stopped: what it had to say is said.
    stored[:] = jaeger.traces(trace_ids)
    carriers = [span for span in stored if span.is_carrier]
    retrievals = {span.key: span for span in stored if "seer.context" in span.attributes}

    assert Counter(span.key for span in exported) == copies(stored)
    assert {1} == set(Counter(carrier.key for carrier in carriers).values())
    judged = Counter(
        (carrier.links[0], scope) for carrier in carriers for scope in _scopes(carrier)
    )
    assert {1} == set(judged.values())
    assert set(retrievals) == {key for key, scope in judged if scope == "task"}
    for carrier in carriers:
        target = retrievals[carrier.links[0]]
        assert target.key == (carrier.key[0], carrier.parent_span_id)
        # Jaeger gives a span without any duration one nanosecond.
        assert target.end_ns - 1 <= carrier.start_ns <= carrier.end_ns <= target.end_ns + 1
        assert target.service == carrier.service


def _scopes(span: StoredSpan) -> list[str]:
    return [result["seer.scope"] for result in span.results()]
