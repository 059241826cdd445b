"""What the harness makes of lists and labels: the faults seen in the field are not its own."""

import random
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import RR, R, Success

from seer_otel.harness.ir import findings
from seer_otel.harness.ir.as_json import as_json
from seer_otel.harness.ir.run import HarnessRun, run
from tests.unit.harness.eval_sets import eval_set, list_file, of_lists

ABC = {"A": "alpha", "B": "beta", "C": "gamma"}


def mean(run: HarnessRun, score: str, arm: str = "arm", level: int = 0) -> float:
    return run.levels[level].means[arm][score].value


def test_duplicates_push_nothing_above_one(tmp_path: Path) -> None:
    folder = eval_set(tmp_path, ABC, {"q": "?"}, {"q": ["A", "B"]})
    run = of_lists(folder, 3, arm={"q": ["A", "A", "A"]})

    assert 0.5 == mean(run, "recall@3")
    assert any("hold a document twice" in text for text in findings.warnings(run))


def test_misses_lower_recall_where_hit_and_rank_see_nothing(tmp_path: Path) -> None:
    folder = eval_set(tmp_path, ABC, {"q": "?"}, {"q": ["A", "B"]})
    run = of_lists(folder, arm={"q": ["A"]})

    assert (0.5, 1.0, 1.0) == tuple(mean(run, name) for name in ("recall@10", "hit@10", "rr"))


def test_a_query_with_an_empty_list_stays_in_the_mean(tmp_path: Path) -> None:
    folder = eval_set(tmp_path, ABC, {"q": "?", "r": "!"}, {"q": ["A"], "r": ["B"]})

    assert 0.5 == mean(of_lists(folder, arm={"q": ["A"], "r": []}), "recall@10")
    without = of_lists(folder, arm={"q": ["A"]})
    assert 0.5 == mean(without, "recall@10")
    assert any("no list for 1 of 2 queries" in text for text in findings.warnings(without))


def test_without_an_answerable_query_there_are_no_means(tmp_path: Path) -> None:
    folder = eval_set(tmp_path, ABC, {"q": "?"}, {"q": ["gone"]})
    found = as_json(of_lists(folder, arm={"q": ["A"]}))["levels"][0]

    assert {"arm": {}} == found["arms"]
    assert (1, 0, ["q"]) == (found["n_total"], found["n_scored"], found["abstention_queries"])


def test_a_chunk_is_right_for_the_document_it_is_of_at_the_lenient_level(tmp_path: Path) -> None:
    documents = {
        id_: {"text": id_, "labels": {"chunk": id_, "document": id_.partition("#")[0]}}
        for id_ in ("doc1", "doc1#0", "doc1#3", "doc2")
    }
    queries = {
        "q": {"text": "?", "labels": {"chunk": "doc1", "document": "doc1"}},
        "gone": {"text": "!", "labels": {"chunk": "doc9", "document": "doc9"}},
    }
    run = of_lists(eval_set(tmp_path, documents, queries), arm={"q": ["doc1#0", "doc1#3"]})

    assert ["chunk", "document"] == [at.level.name for at in run.levels]
    assert (0.0, 1.0) == (mean(run, "hit@10"), mean(run, "hit@10", level=1))
    assert (["q"], ["gone"]) == (run.levels[0].answerable, run.levels[0].unanswerable)


def test_chunks_with_ids_of_their_own_are_told_where_the_labels_name_others(tmp_path: Path) -> None:
    folder = eval_set(tmp_path, {"doc1": "x"}, {"q": "?"}, {"q": ["doc1"]})
    run = of_lists(folder, arm={"q": ["doc1#0", "doc1#3"]})

    assert 0.0 == mean(run, "recall@10")
    assert any("2 ids returned are not in the corpus" in text for text in findings.warnings(run))


def test_the_chunks_of_one_document_are_as_many_documents(tmp_path: Path) -> None:
    chunks = {f"d1#{n}": {"text": f"{n}", "labels": {"of": "d1"}} for n in range(4)}
    documents = {**chunks, "d2#0": {"text": "x", "labels": {"of": "d2"}}}
    queries = {"q": {"text": "?", "labels": {"of": "d1"}}}
    run = of_lists(eval_set(tmp_path, documents, queries), arm={"q": list(documents)})

    assert (1.0, 1.0) == (mean(run, "recall@10"), mean(run, "candidate_set_recall@10"))
    assert 0.5 == mean(run, "candidate_set_score@10")


def test_an_interval_without_width_is_marked(tmp_path: Path) -> None:
    queries = {f"q{n}": f"{n}?" for n in range(20)}
    folder = eval_set(tmp_path, ABC, queries, {query: ["A"] for query in queries})
    found = as_json(of_lists(folder, arm={query: ["A"] for query in queries}))

    assert {"mean": 1.0, "ci95": [1.0, 1.0], "degenerate": True, "n": 20} == (
        found["levels"][0]["arms"]["arm"]["recall@10"]
    )


def test_one_query_has_no_interval_to_speak_of(tmp_path: Path) -> None:
    folder = eval_set(tmp_path, ABC, {"q": "?"}, {"q": ["A", "B"]})
    run = of_lists(folder, arm={"q": ["A"]})

    assert run.levels[0].means["arm"]["recall@10"].interval.degenerate


def test_queries_of_one_text_with_different_answers_are_told(tmp_path: Path) -> None:
    queries = {"q": "Who  is it?", "r": "who is it?", "s": "Who is it?"}
    folder = eval_set(tmp_path, ABC, queries, {"q": ["A"], "r": ["B"], "s": ["A"]})
    run = of_lists(folder, arm={"q": ["A"]})

    assert any("Duplicate queries" in text and "q, r, s" in text for text in findings.warnings(run))


def test_queries_of_one_text_with_one_answer_are_not(tmp_path: Path) -> None:
    folder = eval_set(tmp_path, ABC, {"q": "Who?", "r": "Who?"}, {"q": ["A"], "r": ["A"]})
    run = of_lists(folder, arm={"q": ["A"]})

    assert not any("Duplicate" in text for text in findings.warnings(run))


def test_a_hybrid_must_beat_each_of_its_parts(tmp_path: Path) -> None:
    documents = {f"d{n}": "x" for n in range(40)}
    right = {f"q{n}": [f"d{n}"] for n in range(40)}
    folder = eval_set(tmp_path, documents, {query: f"{query}?" for query in right}, right)
    half = {query: ids if int(query[1:]) % 2 else [] for query, ids in right.items()}
    other = {query: [] if half[query] else ids for query, ids in right.items()}
    lists = {"half": half, "other": other, "every": right}
    arms = {name: f"{name}={list_file(folder, name, each)}" for name, each in lists.items()}

    def place(*wanted: str) -> findings.Place:

        made = run(folder, wanted=[*(arms[name] for name in wanted), "hybrid"])
        hybrid = next(arm for arm in made.arms if arm.parts)
        found = findings.place(made.levels[0], hybrid, "recall@10")
        assert found is not None
        return found

    assert place("half", "other").earned
    assert not place("half", "every").earned


def test_a_hit_that_separates_nothing_says_so(tmp_path: Path) -> None:
    queries = {f"q{n}": f"{n}?" for n in range(20)}
    folder = eval_set(tmp_path, ABC, queries, {query: ["A", "B"] for query in queries})
    run = of_lists(
        folder,
        one={query: ["A"] for query in queries},
        two={query: ["A", "B"] for query in queries},
    )

    assert ["hit@10 does not separate the arms (1.000): read recall@10."] == (
        as_json(run)["levels"][0]["remarks"]
    )
    assert run.levels[0].differences[0].mean.value == 0.5


def test_a_top_score_is_measured_as_a_sign_of_no_answer(tmp_path: Path) -> None:
    queries = {f"q{n}": f"{n}?" for n in range(10)} | {"none": "?", "nothing": "!"}
    right = {query: ["A"] for query in queries if query.startswith("q")}
    folder = eval_set(tmp_path, ABC, queries, right)
    hits = {query: [{"id": "A", "score": 0.9}] for query in right}
    run = of_lists(folder, arm={**hits, "none": [{"id": "A", "score": 0.1}], "nothing": []})
    (signal,) = run.signals

    assert (1.0, 0.0, 1.0) == (
        signal.abstention.accuracy,
        signal.abstention.false_abstention_rate,
        signal.abstention.separation_auc,
    )


def test_lists_without_scores_have_no_signal(tmp_path: Path) -> None:
    folder = eval_set(tmp_path, ABC, {"q": "?"}, {"q": ["A"]})

    assert [] == of_lists(folder, arm={"q": ["A"]}).signals


@pytest.mark.parametrize("seed", range(3))
def test_trec_files_have_the_numbers_of_trec_eval(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    documents = [f"d{n:02}" for n in range(40)]
    right = {f"q{n}": draw.sample(documents, draw.randint(1, 12)) for n in range(30)}
    folder = eval_set(tmp_path, dict.fromkeys(documents, "x"), {q: f"{q}?" for q in right}, right)
    rows = [
        f"{query} Q0 {id_} {place} {draw.choice([1, 2, 3, 4.5])} tag"  # with ties
        for query in right
        for place, id_ in enumerate(draw.sample(documents, 25), start=1)
    ]
    path = tmp_path / "run.trec"
    path.write_text("\n".join(rows))
    measures: list[Any] = [R @ 10, RR, Success @ 10]
    theirs = ir_measures.calc_aggregate(
        measures,
        [ir_measures.Qrel(query, id_, 1) for query, ids in right.items() for id_ in ids],
        [
            ir_measures.ScoredDoc(query, id_, float(score))
            for query, _, id_, _, score, _ in map(str.split, rows)
        ],
    )

    ours = run(folder, wanted=[str(path)]).levels[0].means["run"]

    assert [theirs[measure] for measure in measures] == pytest.approx(
        [ours[name].value for name in ("recall@10", "rr", "hit@10")], abs=1e-9
    )
