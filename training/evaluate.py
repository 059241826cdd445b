"""How well the judge does, as the product runs it: `python -m training.evaluate --set office`."""

import argparse
import asyncio
import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from seer_otel.judge.local import LocalJudge
from seer_otel.judge.local.model import Model
from seer_otel.judge.protocol import Asked, Question
from training.crossed import by_domain
from training.data import SIBLINGS, SOURCES, VALIDATION, chance, rows
from training.measured import WORK

FOLDS = WORK / "crossed"


@dataclass(frozen=True)
class Judged:
    """What the judge said about one query and one context."""

    cited: frozenset[str]
    requirements: int
    recall: float
    unsure: bool
    seconds: float


def judged(judge: LocalJudge, query: str, context: Sequence[dict]) -> Judged:
    """Judge one query over one context."""
    texts = list(dict.fromkeys(item["text"] for item in context))

    async def ask() -> Judged:
        start = time.perf_counter()
        found = (await judge.requirements(query)).texts
        if not found:
            return Judged(frozenset(), 0, 1.0, False, 0.0)
        asked = Asked("task", query, dict(enumerate(found, 1)))
        support = await judge.support(Question((asked,), dict(enumerate(texts, 1))))
        seconds = time.perf_counter() - start
        cited = {texts[number - 1] for numbers in support.citations.values() for number in numbers}
        ids = frozenset(item["id"] for item in context if item["text"] in cited)
        recall = sum(map(bool, support.citations.values())) / len(found)
        return Judged(ids, len(found), recall, bool(support.low_confidence), seconds)

    return asyncio.run(ask())


def f1(cited: Iterable[str], gold: Iterable[str]) -> float:
    """Return the F1 of citations; 1 where there is nothing to cite and nothing is cited."""
    cited, gold = set(cited), set(gold)
    if not cited and not gold:
        return 1.0
    return 2 * len(cited & gold) / (len(cited) + len(gold))


@dataclass
class Figures:
    """The figures of one set; each list has one value a question that it is defined for."""

    task: list[float] = field(default_factory=list)
    subquery: list[float] = field(default_factory=list)
    abstained: list[bool] = field(default_factory=list)
    declined: list[bool] = field(default_factory=list)
    off_by: list[int] = field(default_factory=list)
    recalls: list[tuple[float, float]] = field(default_factory=list)
    sure: list[float] = field(default_factory=list)
    unsure: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    kinds: list[tuple[str, float]] = field(default_factory=list)
    """The kind of each question (its type, or else its language), with the F1 of its task."""

    def line(self) -> dict[str, object]:
        """Return the means."""
        off = np.abs(self.off_by)
        return {
            "n": len(self.task),
            "F1 task": _mean(self.task),
            "F1 subquery": _mean(self.subquery),
            "nothing cited without evidence": _mean(self.abstained),
            "wrongly declined": _mean(self.declined),
            "K exact": _mean(off == 0),
            "K within one": _mean(off <= 1),
            "r recall": _correlation(self.recalls),
            "F1 sure": _mean(self.sure),
            "F1 unsure": _mean(self.unsure),
            "unsure": _mean([0] * len(self.sure) + [1] * len(self.unsure)),
            "ms": _mean([1000 * value for value in self.seconds]),
        }


def figures(judge: LocalJudge, questions: Sequence[dict]) -> Figures:
    """Judge the questions of a set: as they are, by subquery, and with evidence removed."""
    out = Figures()
    for row in questions:
        context = row["context"]
        present = {item["id"] for item in context}
        gold = present.intersection(row["ground_truth"]["gold_doc_ids"])
        missing = set(row["ground_truth"].get("missing_gold") or ())
        found = judged(judge, row["task"], context)
        score = f1(found.cited, gold)
        out.task.append(score)
        out.seconds.append(found.seconds)
        out.kinds.append((_kind(row), score))
        (out.unsure if found.unsure else out.sure).append(score)
        if gold:
            out.declined.append(not found.cited)
            left = [item for item in context if item["id"] not in gold]
            if left:
                out.abstained.append(not judged(judge, row["task"], left).cited)
        else:
            out.abstained.append(not found.cited)
        if row.get("subqueries"):
            out.off_by.append(found.requirements - len(row["subqueries"]))
        if len(gold | missing) > 1 and gold:
            out.recalls.append(_recalls(judge, row, gold, missing, found))
        for each in row.get("subqueries") or ():
            query = each.get("subquery_resolved") or each["subquery"]
            if not re.search(r"#\d", query):
                its = judged(judge, query, context)
                out.subquery.append(f1(its.cited, present.intersection(each["gold_doc_ids"])))
    return out


def _kind(row: dict) -> str:
    return row["language"] if "language" in row else row["ground_truth"].get("type") or "any"


def merged(several: Iterable[Figures]) -> Figures:
    """Bring figures of several parts of a set together."""
    out = Figures()
    for each in several:
        for name, values in vars(each).items():
            getattr(out, name).extend(values)
    return out


def _recalls(
    judge: LocalJudge, row: dict, gold: set[str], missing: set[str], found: Judged
) -> tuple[float, float]:
    """Return judged and true recall, with one piece of evidence removed in half of the contexts."""
    total = len(gold | missing)
    if chance("removed", row["id"]) < 0.5:
        return found.recall, len(gold) / total
    gone = sorted(gold)[int(chance("which", row["id"]) * len(gold))]
    left = [item for item in row["context"] if item["id"] != gone]
    return judged(judge, row["task"], left).recall, (len(gold) - 1) / total


def _mean(values: Sequence[float] | np.ndarray) -> float | None:
    return round(float(np.mean(values)), 3) if len(values) else None


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 10:
        return None
    left, right = np.array(pairs).T
    constant = left.std() == 0 or right.std() == 0
    return 0.0 if constant else round(float(np.corrcoef(left, right)[0, 1]), 3)


def _unseen(most: int) -> Iterator[tuple[str, Figures]]:
    """Yield the figures of every source, by the model that was trained without it."""
    read = {path.stem: LocalJudge(Model.read(path.read_text())) for path in FOLDS.glob("*.json")}
    for source in SOURCES:
        group = SIBLINGS.get(source, source)
        yield source, figures(read[group], _some(source, most))
    domains: dict[str, Figures] = {}
    for fold in by_domain({row["id"].split("-")[1] for row in rows("desk")}):
        questions = [row for row in _some("desk", most) if row["id"].split("-")[1] in fold.domains]
        domains[fold.name] = figures(read[fold.name], questions)
    yield "desk, domains left out", merged(domains.values())


def _some(source: str, most: int) -> list[dict]:
    return sorted(rows(source), key=lambda row: chance("order", row["id"]))[:most]


def by_kind(found: Figures) -> str:
    """Return the F1 of each kind of question that there are several of."""
    kinds = sorted({kind for kind, _ in found.kinds})
    means = {kind: [score for each, score in found.kinds if each == kind] for kind in kinds}
    return ", ".join(f"{k} {_mean(v):.2f} ({len(v)})" for k, v in means.items() if len(v) > 4)


def table(lines: Sequence[dict[str, object]]) -> str:
    """Return lines as a table in Markdown."""
    names = list(lines[0])
    rows_ = [[_shown(line[name]) for name in names] for line in lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in [names, ["---"] * len(names), *rows_])


def _shown(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def main() -> None:
    """Judge one set, or every source by the model that never saw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--set", choices=[*SOURCES, *VALIDATION], help="by the shipped model")
    which.add_argument("--unseen", action="store_true", help="every source, by those without it")
    parser.add_argument("--most", type=int, default=200, help="questions of a source, at most")
    options = parser.parse_args()
    if options.set:
        found = figures(LocalJudge(), _some(options.set, options.most))
        lines = [{"set": options.set, **found.line()}]
        print(by_kind(found))
    else:
        lines = []
        for name, each in _unseen(options.most):
            lines.append({"set": name, **each.line()})
            print(json.dumps(lines[-1]), by_kind(each), flush=True)
    print(table(lines))


if __name__ == "__main__":
    main()
