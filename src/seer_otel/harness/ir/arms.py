"""Arms: what is compared. Each is given every query, and returns a list."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from seer_otel.errors import ConfigError
from seer_otel.harness.ir import retrievers, run_files
from seer_otel.harness.ir.eval_set import EvalSet
from seer_otel.harness.ir.run_files import Hit, Run

HYBRID: Final = "hybrid"
DEFAULT: Final = ("bm25", "dense", HYBRID)


@dataclass(frozen=True, slots=True)
class Spec:
    """One arm, as it was asked for."""

    name: str
    source: str
    kind: Literal["built-in", "hybrid", "function", "file"]


@dataclass(frozen=True, slots=True)
class Arm:
    """What an arm returned."""

    name: str
    source: str
    """What it is: a built-in retriever, a function or a file."""
    lists: Run
    """By query, for every query of the set: the documents, the top one first; perhaps none."""
    parts: tuple[str, ...] = ()
    """Of a hybrid: the arms that it fuses."""
    remarks: tuple[str, ...] = ()
    """What is odd about its lists, in words."""

    def ids(self, query: str) -> list[str]:
        """Return the ids of the list of a query."""
        return [each.id for each in self.lists[query]]

    def confidence(self, query: str) -> float | None:
        """Return the score of the top document; None where there is none."""
        top = next(iter(self.lists[query]), None)
        return None if top is None else top.score

    @property
    def has_scores(self) -> bool:
        """Whether every list says how sure it is of its top document."""
        tops = [hits[0].score for hits in self.lists.values() if hits]
        return bool(tops) and None not in tops


def specs(wanted: Sequence[str]) -> list[Spec]:
    """
    Read what arms are wanted: `bm25`, `dense`, `hybrid`, `module:function`, a file; `NAME=` names.

    A hybrid fuses all other arms. Where it has fewer than two to fuse, it brings the missing ones
    of `bm25` and `dense` along.

    Raises:
        ConfigError: One cannot be understood, or a name is there twice.
    """
    found = [_spec(each) for each in wanted or DEFAULT]
    if any(each.kind == "hybrid" for each in found):
        parts = [each for each in found if each.kind != "hybrid"]
        for name in retrievers.BUILT_IN:
            if len(parts) < 2 and name not in [each.source for each in parts]:
                found.append(_spec(name))
                parts.append(found[-1])
    names = [each.name for each in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"two arms are called {twice}: name one of them, as in other={twice}")
    return sorted(found, key=lambda each: each.kind == "hybrid")


def retrieve(
    wanted: Sequence[Spec],
    eval_set: EvalSet,
    depth: int,
    *,
    advance: Callable[[], None] = lambda: None,
) -> list[Arm]:
    """
    Run all arms over all queries.

    Args:
        wanted: The arms, a hybrid after those that it fuses.
        eval_set: Documents and queries.
        depth: How many documents are asked for; files are read as deep.
        advance: Called as each query of a retriever is done.

    Raises:
        ConfigError: An arm cannot be built, or returns something else than documents.
    """
    arms: list[Arm] = []
    for spec in wanted:
        if spec.kind == "hybrid":
            parts = [each for each in arms if not each.parts]
            lists = {
                query.id: retrievers.fused([each.lists[query.id] for each in parts], depth)
                for query in eval_set.queries
            }
            names = tuple(each.name for each in parts)
            arms.append(
                Arm(spec.name, f"reciprocal rank fusion of {' and '.join(names)}", lists, names)
            )
        elif spec.kind == "file":
            run = run_files.read(Path(spec.source))
            arms.append(_of_run(spec, run, eval_set, depth))
        else:
            lists = _searched(spec, eval_set, depth, advance)
            arms.append(Arm(spec.name, _words(spec), lists, remarks=_oddities(lists, eval_set)))
    return arms


def _spec(text: str) -> Spec:
    name, equals, source = text.partition("=")
    if not equals:
        source = text
        name = Path(text).stem if Path(text).is_file() else text
    if source in retrievers.BUILT_IN:
        return Spec(name, source, "built-in")
    if source == HYBRID:
        return Spec(name, source, "hybrid")
    if Path(source).is_file():
        return Spec(name, source, "file")
    module, _, function = source.partition(":")
    if function.isidentifier() and all(part.isidentifier() for part in module.split(".")):
        return Spec(name, source, "function")
    raise ConfigError(
        f"arm {source!r} is none of bm25, dense, hybrid, module:function, or a run file"
    )


def _words(spec: Spec) -> str:
    built_in = retrievers.BUILT_IN.get(spec.source)
    return spec.source if built_in is None else (inspect.getdoc(built_in) or "").split("\n")[0]


def _searched(
    spec: Spec, eval_set: EvalSet, depth: int, advance: Callable[[], None]
) -> dict[str, list[Hit]]:
    build = retrievers.BUILT_IN.get(spec.source) or retrievers.load(spec.source)
    search = build(eval_set.documents)
    lists = {}
    for query in eval_set.queries:
        lists[query.id] = retrievers.hits(search(query.text, depth), spec.name)[:depth]
        advance()
    return lists


def _of_run(spec: Spec, run: Run, eval_set: EvalSet, depth: int) -> Arm:
    ours = {query.id for query in eval_set.queries}
    if ours.isdisjoint(run):
        raise ConfigError(f"arm {spec.name}: {spec.source} holds none of the queries' ids")
    lists = {query.id: run.get(query.id, ())[:depth] for query in eval_set.queries}
    remarks = []
    if missing := len(ours - run.keys()):
        remarks.append(f"no list for {missing} of {len(ours)} queries: each counts as an empty one")
    if unknown := len(run.keys() - ours):
        remarks.append(f"{unknown} queries of the file are not in the set: left out")
    remarks += _oddities(lists, eval_set)
    return Arm(spec.name, spec.source, lists, remarks=tuple(remarks))


def _oddities(lists: Run, eval_set: EvalSet) -> tuple[str, ...]:
    returned = [[each.id for each in hits] for hits in lists.values()]
    unknown = {id_ for ids in returned for id_ in ids if id_ not in eval_set.by_id}
    twice = sum(len(set(ids)) < len(ids) for ids in returned)
    remarks = []
    if unknown:
        example = min(unknown)
        remarks.append(
            f"{len(unknown)} ids returned are not in the corpus, such as {example!r}: they are "
            "right for no query"
        )
    if twice:
        remarks.append(
            f"{twice} lists hold a document twice: it counts once, and takes both places"
        )
    return tuple(remarks)
