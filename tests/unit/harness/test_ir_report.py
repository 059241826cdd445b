"""A run of the harness in every format."""

import asyncio
import io
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from seer_otel.cli import main
from seer_otel.errors import BudgetSpent
from seer_otel.harness.ir import judged, layout, page, render
from seer_otel.harness.ir.as_json import as_json
from seer_otel.harness.ir.run import HarnessRun
from seer_otel.judge.protocol import Question, Support
from seer_otel.testing import ScriptedJudge
from tests.unit.harness.eval_sets import eval_set, of_lists, qrels

DOCUMENTS = {"A": "The disk broke. It was old.", "B": "The fan is loud.", "C": "All is well."}
QUERIES = {**{f"q{n}": f"Why did disk {n} break?" for n in range(10)}, "none": "Who won?"}
RIGHT = {query: ["A"] for query in QUERIES if query != "none"}


def hits(*ids: str) -> list[object]:
    return [{"id": id_, "score": 1 / place} for place, id_ in enumerate(ids, start=1)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return eval_set(tmp_path / "<set>", DOCUMENTS, QUERIES, RIGHT)


@pytest.fixture
def made(folder: Path) -> HarnessRun:
    good = {query: hits("A", "B") for query in QUERIES}
    return of_lists(folder, good=good, worse={query: hits("B", "A") for query in QUERIES})


def test_a_terminal_gets_tables_and_plots(made: HarnessRun) -> None:
    console = Console(file=io.StringIO(), width=160)
    console.print(render.on_terminal(layout.sections(made)))
    file = console.file
    assert isinstance(file, io.StringIO)
    text = file.getvalue()

    assert "│ good  │ 1.000 [degenerate] │" in text
    assert "and in no mean here: none (1 of 11 queries)." in text
    assert "hit@10 does not separate the arms (1.000): read recall@10." in text
    assert "Top score of good" in text
    assert "no answer" in text
    assert "-0.500 [degenerate]" in text


def test_markdown_has_a_table_for_each(made: HarnessRun) -> None:
    text = render.as_markdown(layout.sections(made))

    assert text.startswith("# \\<set\\>\n")
    assert "| Arm | recall@10 | capped recall@10 | MRR | hit@10 |" in text
    assert "| --- | ---: |" in text


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [name for name, _ in attrs]
        if tag not in ("meta", "line", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "rect"):
            assert tag == self.open.pop()


def test_html_stands_alone_and_shows_text_as_text(made: HarnessRun) -> None:
    text = page.as_html(layout.sections(made))
    tags = Tags()
    tags.feed(text)

    assert [] == tags.open
    assert {"src", "href", "onload"}.isdisjoint(tags.attributes)
    assert "<h1>&lt;set&gt;</h1>" in text
    assert "<svg" in text
    assert "<set>" not in text


def test_json_has_every_query_and_nothing_that_is_no_number(made: HarnessRun) -> None:
    found = json.loads(json.dumps(as_json(made), allow_nan=False))

    assert 2 * 10 == len(found["results"])
    assert {"scope", "arm", "query_id", "recall@10", "rr"} <= found["results"][0].keys()
    assert {"mrr", "recall@10"} <= found["levels"][0]["arms"]["good"].keys()
    assert ["relevant", -0.5] == [
        found["levels"][0]["level"],
        next(d["mean"] for d in found["levels"][0]["differences"] if d["score"] == "mrr"),
    ]


@pytest.mark.parametrize("form", ["table", "json", "markdown", "html"])
def test_the_command_writes_any_format(
    form: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "report"
    arguments = ["harness", "run", str(folder), "--arms", "bm25", "--format", form]

    assert 0 == main(arguments)
    printed = capsys.readouterr().out
    assert 0 == main([*arguments, "--output", str(output)])
    assert printed.strip() == output.read_text().strip()
    assert "bm25" in printed


def test_a_changed_set_is_said_and_the_exit_code_says_so_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["harness", "freeze", str(folder)])
    assert 0 == main(["harness", "run", str(folder), "--arms", "bm25"])
    qrels(folder / "qrels.tsv", {query: ["B"] for query in RIGHT})
    capsys.readouterr()

    assert 1 == main(["harness", "run", str(folder), "--arms", "bm25"])
    assert "CHANGED since it was frozen: qrels.tsv." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--k", "0"], "--k"),
        (["--k", "x"], "--k"),
        (["--arms", "x"], "arm"),
        (["--levels", "x"], "x"),
        (["--runs", "2"], "--judge"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(["harness", "run", str(folder), *arguments])
    assert says in capsys.readouterr().err


def test_a_judge_reads_passages_and_their_statements(made: HarnessRun) -> None:
    query = QUERIES["q0"]
    judge = ScriptedJudge({query: [("the cause", [DOCUMENTS["A"], "The disk broke."])]})
    asked = judged.ask(judge, made.eval_set, made.arms, k=2, runs=2)
    found = asyncio.run(asked)
    lists = {arm: own["q0"] for arm, own in found.lists.items()}

    assert (1.0, 0.5) == tuple(
        lists[arm].scores["contextual_precision"] for arm in ("good", "worse")
    )
    # Of "The disk broke.", "It was old.", "The fan is loud." one bears on the query.
    assert [pytest.approx(1 / 3)] * 2 == [
        own.scores["contextual_relevancy"] for own in lists.values()
    ]
    assert 0.0 == lists["good"].spread["contextual_relevancy"]
    assert 10 == found.arms["good"].not_applicable
    assert 1 == found.arms["good"].means["contextual_precision"].n


def test_the_requirements_are_asked_for_once_for_all_arms_and_runs(made: HarnessRun) -> None:
    judge = ScriptedJudge({})
    asyncio.run(judged.ask(judge, made.eval_set, made.arms, k=2, runs=3))

    assert sorted(QUERIES.values()) == sorted(judge.enumerated)


def test_where_the_budget_is_spent_the_rest_has_failed(made: HarnessRun) -> None:
    class Spent(ScriptedJudge):
        async def support(self, question: Question) -> Support:
            raise BudgetSpent("no more today")

    judge = Spent({QUERIES["q0"]: [("the cause", [])]})
    found = asyncio.run(judged.ask(judge, made.eval_set, made.arms, k=2, runs=1))

    assert (1, 10) == (found.arms["good"].failed, found.arms["good"].not_applicable)
    assert "budget" == found.lists["good"]["q0"].reason
