"""A verdict on the span it is about: the events, the attributes, and the span's own bytes."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seer_otel import semconv
from seer_otel.dialects import attach
from seer_otel.metrics import ground_truth, judgement
from seer_otel.retrieval import Passage
from seer_otel.verdict import (
    Evaluation,
    Judgement,
    Provenance,
    Repetition,
    Requirement,
    Scope,
    Scores,
    TraceScores,
    Usage,
    Verdict,
)

END = 1_796_000_000_000_000_000

PROVENANCE = Provenance(
    judge="openai/judge-1",
    revision="9f2c11d0",
    evaluated_at="2026-11-30T12:00:05.25Z",
    duration_ms=812.5,
)

INCEPTION = (
    Passage("Christopher Nolan directed Inception.", id="p1", score=0.95),
    Passage("Nolan is British-American.", id="p2", score=0.89),
    Passage("Inception released in 2010.", id="p3", score=0.72),
)

NEEDED = (Requirement("the director", (1,)), Requirement("the director's nationality", (2,)))


def evaluation(
    requirements: tuple[Requirement, ...] = NEEDED,
    *,
    context: Sequence[Passage] = INCEPTION,
    scope: Scope = "task",
    provenance: Provenance = PROVENANCE,
    query: str = "Who directed Inception and what is their nationality?",
) -> Evaluation:
    citations = [requirement.passages for requirement in requirements]
    return Evaluation(
        scope=scope,
        status="scored" if requirements else "not_applicable",
        provenance=provenance,
        judgement=Judgement(query, requirements),
        scores=judgement.score(context, citations),
        passages_total=len(context),
        passages_cited=judgement.cited(context, citations),
        task_source="seer.task",
    )


def failed(scope: Scope = "task") -> Evaluation:
    return Evaluation(
        scope=scope,
        status="failed",
        provenance=PROVENANCE,
        reason="judge_parse",
        error_type="judge_parse",
        passages_total=3,
    )


WORKED = Verdict((evaluation(),))


def plain(value: AnyValue) -> Any:
    match value.WhichOneof("value"):
        case "array_value":
            return [plain(entry) for entry in value.array_value.values]
        case str(kind):
            return getattr(value, kind)
        case None:
            return None


def attributes_of(message: Any) -> dict[str, Any]:
    return {attribute.key: plain(attribute.value) for attribute in message.attributes}


def events_of(verdict: Verdict, **options: Any) -> list[tuple[str, dict[str, Any]]]:
    return [
        (event.name, attributes_of(event)) for event in attach.events(verdict, at_ns=END, **options)
    ]


def written(verdict: Verdict, scope: str = "task") -> dict[str, Any]:
    return next(
        found
        for name, found in events_of(verdict)
        if name == "seer.evaluation" and found["seer.scope"] == scope
    )


def results(verdict: Verdict, **options: Any) -> dict[str, dict[str, Any]]:
    return {
        found["gen_ai.evaluation.name"]: found
        for name, found in events_of(verdict, **options)
        if name == "gen_ai.evaluation.result"
    }


# Events.


def test_what_judging_cost_is_on_the_event_and_absent_where_unknown() -> None:
    usage = Usage(2, 200, 20, 0.0004)
    paid = written(Verdict((evaluation(provenance=replace(PROVENANCE, usage=usage)),)))
    names = ("seer.judge.input_tokens", "seer.judge.output_tokens", "seer.judge.cost")

    assert (200, 20, 0.0004) == tuple(paid[name] for name in names)
    assert not set(names) & written(WORKED).keys()


def test_several_runs_are_on_the_event_with_their_spread_and_agreement() -> None:
    repetition = Repetition(3, {"recall": 0.5, "f1": 0.25}, 2 / 3, (((1,), (2,)),) * 3)
    several = Verdict((replace(evaluation(), repetition=repetition),))
    found = written(several)

    assert (3, pytest.approx(2 / 3)) == (found["seer.judge.runs"], found["seer.judge.agreement"])
    assert {"seer.spread.recall": 0.5, "seer.spread.f1": 0.25} == {
        name: value for name, value in found.items() if name.startswith("seer.spread")
    }
    assert (
        "Mean of 3 runs; spread 0.500."
        == (results(several)["seer.task.recall"]["gen_ai.evaluation.explanation"])
    )


def test_the_worked_example_is_written_whole() -> None:
    assert written(WORKED) == {
        "seer.scope": "task",
        "seer.status": "scored",
        "seer.recall": 1.0,
        "seer.precision": pytest.approx(0.67, abs=0.005),
        "seer.f1": pytest.approx(0.80),
        "seer.ndcg": 1.0,
        "seer.contextual_precision": 1.0,
        "seer.requirements.total": 2,
        "seer.requirements.supported": 2,
        "seer.requirements.missing": [],
        "seer.passages.total": 3,
        "seer.passages.cited": [1, 2],
        "seer.ranking": "score",
        "seer.task_source": "seer.task",
        "seer.judge.name": "openai/judge-1",
        "seer.judge.revision": "9f2c11d0",
        "seer.judge.cached": False,
        "seer.judge.duration_ms": 812.5,
        "seer.evaluated_at": "2026-11-30T12:00:05.25Z",
    }


def test_the_worked_example_has_one_result_a_score() -> None:
    found = results(WORKED)

    assert {
        name: result["gen_ai.evaluation.score.value"] for name, result in found.items()
    } == pytest.approx(
        {
            "seer.task.recall": 1.0,
            "seer.task.precision": 2 / 3,
            "seer.task.f1": 0.8,
            "seer.task.ndcg": 1.0,
        }
    )
    assert all("gen_ai.evaluation.score.label" not in result for result in found.values())


def test_an_explanation_says_what_was_missing() -> None:
    verdict = Verdict((evaluation((NEEDED[0], Requirement("the nationality"))),))
    explanations = {
        name: result["gen_ai.evaluation.explanation"] for name, result in results(verdict).items()
    }

    assert explanations == {
        "seer.task.recall": "Supported requirements: 1 of 2. Missing: the nationality",
        "seer.task.precision": "Distinct documents cited: 1; passages: 3.",
        "seer.task.f1": "Harmonic mean of recall and precision.",
        "seer.task.ndcg": "Order by score. Its ideal knows only what was cited.",
    }


@pytest.mark.parametrize(
    ("threshold", "label"), [(0.5, "pass"), (2 / 3, "pass"), (2 / 3 + 1e-12, "pass"), (0.7, "fail")]
)
def test_a_score_with_a_threshold_is_labelled(threshold: float, label: str) -> None:
    found = results(WORKED, thresholds={"precision": threshold})

    assert found["seer.task.precision"]["gen_ai.evaluation.score.label"] == label
    assert "gen_ai.evaluation.score.label" not in found["seer.task.recall"]


def test_an_undefined_score_is_absent_with_its_reason() -> None:
    verdict = Verdict((evaluation((Requirement("anything"),), context=()),))

    assert written(verdict)["seer.absent"] == [
        "precision: the context is empty",
        "f1: the context is empty",
        "ndcg: the context is empty",
        "contextual_precision: the context is empty",
    ]
    assert "seer.precision" not in written(verdict)
    assert set(results(verdict)) == {"seer.task.recall"}


def test_a_query_that_needs_nothing_has_no_result() -> None:
    verdict = Verdict((evaluation(()),))

    assert written(verdict)["seer.status"] == "not_applicable"
    assert written(verdict)["seer.requirements.total"] == 0
    assert results(verdict) == {}


def test_a_failure_is_one_result_with_an_error_and_no_value() -> None:
    verdict = Verdict((failed(),))

    assert written(verdict)["seer.reason"] == "judge_parse"
    assert not set(written(verdict)) & {semconv.RECALL, semconv.REQUIREMENTS_TOTAL}
    assert results(verdict) == {
        "seer.task.recall": {
            "gen_ai.evaluation.name": "seer.task.recall",
            "gen_ai.evaluation.explanation": "Not scored: judge_parse.",
            "error.type": "judge_parse",
        }
    }


def test_what_went_wrong_on_the_way_is_counted_on_the_event() -> None:
    judged = evaluation()
    assert judged.judgement is not None
    verdict = Verdict(
        (
            replace(
                judged,
                judgement=replace(judged.judgement, invalid_citations=1, low_confidence=True),
                unreadable_passages=2,
                passages_dropped=3,
                characters_dropped=4,
            ),
        )
    )
    mishaps = {
        "seer.judge.invalid_citations": 1,
        "seer.low_confidence": True,
        "seer.passages.unreadable": 2,
        "seer.passages.dropped": 3,
        "seer.passages.characters_dropped": 4,
    }

    assert mishaps.items() <= written(verdict).items()
    assert not mishaps.keys() & written(WORKED).keys()


def test_the_trace_scope_says_what_the_hops_show_together() -> None:
    trace = replace(
        evaluation(scope="trace"), trace=TraceScores(0.75, 0.25, supersedes="00f067aa0ba902b7")
    )
    found = written(Verdict((evaluation(), trace)), "trace")

    assert found["seer.cumulative_recall"] == 0.75
    assert found["seer.redundancy"] == 0.25
    assert found["seer.supersedes"] == "00f067aa0ba902b7"


def test_labels_show_on_the_event() -> None:
    labelled = ground_truth.score(INCEPTION, ["p1", "p9"], [r.passages for r in NEEDED])
    found = written(Verdict((replace(evaluation(), ground_truth=labelled),)))

    assert {name: value for name, value in found.items() if name.startswith("seer.gt")} == {
        "seer.gt.recall": 0.5,
        "seer.gt.precision": 1 / 3,
    }
    assert {name: value for name, value in found.items() if name.startswith("seer.eval")} == {
        "seer.evaluator.recall": 1.0,
        "seer.evaluator.precision": 0.5,
        "seer.evaluator.exact_match": 0.0,
        "seer.evaluated_at": "2026-11-30T12:00:05.25Z",
    }


def test_unmatched_gold_ids_are_said_on_the_event() -> None:
    labelled = ground_truth.score(INCEPTION, ["p9"], [r.passages for r in NEEDED])
    found = written(Verdict((replace(evaluation(), ground_truth=labelled),)))

    assert found["seer.gt.ids_unmatched"] is True
    assert "evaluator_recall: no gold id was fetched" in found["seer.absent"]


def test_requirements_first_supported_here_are_listed_even_if_none() -> None:
    first = Verdict((replace(evaluation(), new_requirements=(1, 2)),))
    later = Verdict((replace(evaluation(), new_requirements=()),))

    assert written(first)["seer.requirements.new"] == [1, 2]
    assert written(later)["seer.requirements.new"] == []


def test_another_revision_shows_on_the_event() -> None:
    other = Verdict((evaluation(provenance=replace(PROVENANCE, revision="77aa00ff")),))

    assert written(WORKED)["seer.judge.revision"] != written(other)["seer.judge.revision"]


def test_a_span_gets_at_most_12_events() -> None:
    scopes: tuple[Scope, ...] = ("task", "subquery", "trace", "conversation")
    verdict = Verdict(tuple(evaluation(scope=scope) for scope in scopes))

    assert len(attach.events(verdict, at_ns=END)) == 12


def test_events_stand_at_the_given_time() -> None:
    assert {event.time_unix_nano for event in attach.events(WORKED, at_ns=END)} == {END}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_not_written(value: float) -> None:
    verdict = Verdict((replace(evaluation(), scores=Scores(recall=value)),))

    assert "seer.recall" not in written(verdict)


# Limits of the stores.


def size(value: AnyValue) -> int:
    """Count bytes as a store might: of the text, the OTLP value, or the list as JSON."""
    if value.WhichOneof("value") == "string_value":
        return len(value.string_value.encode())
    as_json = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    return max(value.ByteSize(), len(as_json.encode()))


def sizes(verdict: Verdict) -> list[int]:
    events = attach.events(verdict, at_ns=END)
    span = Span.FromString(attach.append(b"", attributes=attach.attributes(verdict)))
    attributes = [*span.attributes, *(kv for event in events for kv in event.attributes)]
    return [size(attribute.value) for attribute in attributes]


def test_a_list_that_fits_is_whole() -> None:
    texts = ["x" * 1_000, "y" * 900]
    verdict = Verdict((evaluation(tuple(Requirement(text) for text in texts)),))

    assert written(verdict)["seer.requirements.missing"] == texts


def test_a_long_list_says_how_many_more_there_are() -> None:
    verdict = Verdict((evaluation(tuple(Requirement(f"fact {n} " * 9) for n in range(100))),))
    *shown, last = written(verdict)["seer.requirements.missing"]

    assert shown == [f"fact {n} " * 9 for n in range(len(shown))]
    assert last == f"… {100 - len(shown)} more"


def test_a_long_text_is_cut_between_characters_and_marked() -> None:
    verdict = Verdict((evaluation((Requirement("é" * 3_000),)),))
    (shown,) = written(verdict)["seer.requirements.missing"]

    assert shown.endswith("é…")
    assert set(shown[:-1]) == {"é"}


def test_an_explanation_stays_short() -> None:
    verdict = Verdict((evaluation((Requirement("x" * 3_000),)),))
    explanation = results(verdict)["seer.task.recall"]["gen_ai.evaluation.explanation"]

    assert explanation.startswith("Supported requirements: 0 of 1. Missing: xxx")
    assert len(explanation.encode()) <= 250


def test_positions_beyond_what_fits_are_left_out() -> None:
    context = [Passage(f"passage {n}") for n in range(2_000)]
    verdict = Verdict((evaluation((Requirement("all", tuple(range(1, 2_001))),), context=context),))
    cited = written(verdict)["seer.passages.cited"]

    assert cited == list(range(1, len(cited) + 1))
    assert len(cited) > 400
    assert max(sizes(verdict)) < 2_048


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(st.characters(codec=None), max_size=3_000), max_size=60))
def test_every_attribute_stays_below_2_048_bytes(texts: list[str]) -> None:
    """Whatever a judge writes, half surrogate pairs and control characters included."""
    verdict = Verdict(
        (
            evaluation(
                tuple(Requirement(text) for text in texts),
                provenance=replace(PROVENANCE, judge="".join(texts)),
            ),
        )
    )

    assert max(sizes(verdict)) < 2_048


# Attributes of the span.


def test_a_span_is_found_by_its_verdict_and_its_scores() -> None:
    assert attach.attributes(WORKED) == {
        "seer.evaluated": "scored",
        "seer.verdict": "complete",
        "seer.eval.task.recall": 1.0,
        "seer.eval.task.precision": pytest.approx(2 / 3),
        "seer.eval.task.f1": pytest.approx(0.8),
        "seer.eval.task.ndcg": 1.0,
        "seer.eval.task.contextual_precision": 1.0,
    }


def test_the_verdict_of_a_span_is_about_its_task() -> None:
    missed = evaluation((Requirement("anything"),), scope="subquery")
    found = attach.attributes(Verdict((evaluation(), missed)))

    assert found["seer.verdict"] == "complete"
    assert found["seer.eval.subquery.recall"] == 0.0
    assert "seer.verdict" not in attach.attributes(Verdict((missed,)))


def test_a_span_without_scores_says_why() -> None:
    assert attach.attributes(Verdict((failed(),))) == {"seer.evaluated": "failed"}
    assert attach.attributes(Verdict((evaluation(()),))) == {
        "seer.evaluated": "not_applicable",
        "seer.verdict": "not_applicable",
    }
    assert attach.unevaluated("skipped", "budget") == {
        "seer.evaluated": "skipped",
        "seer.skip_reason": "budget",
    }


def test_texts_for_search_are_short() -> None:
    verdict = Verdict((evaluation(), evaluation(scope="subquery"), evaluation(scope="trace")))
    found = attach.attributes(verdict)

    assert all(len(value) < 32 for value in found.values() if isinstance(value, str))
    assert all(len(name) < 64 for name in found)


# Bytes.


def retrieval_span(text: str = "", **fields: Any) -> bytes:
    return Span(
        trace_id=b"t" * 16,
        span_id=b"s" * 8,
        name="retrieval",
        attributes=[KeyValue(key="seer.context", value=AnyValue(string_value=text))],
        events=[Span.Event(name="before")],
        **fields,
    ).SerializeToString()


def test_what_is_appended_comes_after_what_was_there() -> None:
    span = retrieval_span("text", dropped_attributes_count=3, flags=0x101)
    appended = attach.append(
        span, attributes=attach.attributes(WORKED), events=attach.events(WORKED, at_ns=END)
    )
    read = Span.FromString(appended)

    assert appended.startswith(span)
    assert [event.name for event in read.events][:2] == ["before", "seer.evaluation"]
    assert attributes_of(read)["seer.context"] == "text"
    assert attributes_of(read)["seer.verdict"] == "complete"
    assert (read.dropped_attributes_count, read.flags, read.name) == (3, 0x101, "retrieval")


def test_bytes_that_no_strict_parser_takes_stay_as_they_are() -> None:
    unknown_field = b"\xfa\x3f\x03new"
    name_not_utf8 = b"\x2a\x02\xff\xfe"
    span = retrieval_span() + unknown_field + name_not_utf8
    appended = attach.append(span, attributes={"seer.evaluated": "scored"})

    assert appended.startswith(span)
    added = Span.FromString(appended.removeprefix(span))
    assert attributes_of(added) == {"seer.evaluated": "scored"}


def test_an_attribute_that_was_there_is_not_removed() -> None:
    span = attach.append(retrieval_span(), attributes={"seer.evaluated": "skipped"})
    read = Span.FromString(attach.append(span, attributes={"seer.evaluated": "scored"}))

    assert [plain(kv.value) for kv in read.attributes if kv.key == "seer.evaluated"] == [
        "skipped",
        "scored",
    ]


def test_nothing_to_add_changes_nothing() -> None:
    assert attach.append(retrieval_span()) == retrieval_span()


def test_less_than_a_hundredth_is_added_and_no_passage_copied() -> None:
    context = [Passage(f"secret {n} " * 420, score=1 - n / 50) for n in range(50)]
    span = retrieval_span("".join(str(passage.text) for passage in context))
    verdict = Verdict((evaluation(context=context),))
    appended = attach.append(
        span, attributes=attach.attributes(verdict), events=attach.events(verdict, at_ns=END)
    )
    added = appended.removeprefix(span)

    assert len(span) > 200_000
    assert len(added) < len(span) / 100
    assert b"secret" not in added
