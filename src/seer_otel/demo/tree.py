"""One trace with its scores, as a tree for a terminal."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rich.text import Text
from rich.tree import Tree

from seer_otel import dialects, semconv
from seer_otel.dialects import Span
from seer_otel.dialects.span import Attributes
from seer_otel.harness.shown import shown
from seer_otel.retrieval import Passage

_SCORES: Final = {
    "recall": semconv.RECALL,
    "precision": semconv.PRECISION,
    "F1": semconv.F1,
    "nDCG": semconv.NDCG,
    "all hops": semconv.CUMULATIVE_RECALL,
    "repeated": semconv.REDUNDANCY,
}
_TITLE: Final = 28
"""Characters shown of a passage."""


def tree(spans: Iterable[Span]) -> Tree:
    """
    Lay one trace out: its retrievals, what they fetched, their scores, and what was missing.

    Results are read wherever they are: on the retrieval itself, or on a carrier under it.
    """
    ordered = sorted(spans, key=lambda span: (span.start_ns, span.end_ns))
    task = next((s.attributes[semconv.TASK] for s in ordered if semconv.TASK in s.attributes), "")
    top = Tree(Text(shown(str(task), 100), style="bold"))
    found: list[Attributes] = []
    for span in ordered:
        reading = dialects.read(span)
        if reading is None:
            continue
        under = [other for other in ordered if other.parent_span_id == span.span_id]
        results = [result for holder in (span, *under) for result in _results(holder)]
        subquery = span.attributes.get(semconv.SUBQUERY)
        heading = f"  {shown(str(subquery), 90)}" if subquery else ""
        branch = top.add(Text.assemble((span.name, "cyan"), heading))
        branch.add(_passages(reading.context, results))
        for result in results:
            branch.add(_scores(result))
            if result.get(semconv.EVAL_SCOPE) != "trace":
                for text in result.get(semconv.REQUIREMENTS_MISSING) or ():
                    branch.add(Text.assemble(("missing   ", "red"), shown(str(text), 100)))
        found += results
    if reason := _why(found):
        top.add(Text(reason, style="bold"))
    return top


def _why(results: Sequence[Attributes]) -> str | None:
    """Say what the scores of all hops tell together; None where there is no result of the trace."""

    def recalls(scope: str, key: str = semconv.RECALL) -> list[float]:
        own = (result for result in results if result.get(semconv.EVAL_SCOPE) == scope)
        return [float(result[key]) for result in own if key in result]

    if not (final := recalls("trace")):
        return None
    if final[-1] == 1:
        return "Complete: all that the question needs was there to answer from."
    if max(recalls("trace", semconv.CUMULATIVE_RECALL), default=0.0) > final[-1]:
        return "What is missing had been fetched, and did not make it into the final context."
    if min(recalls("subquery"), default=1.0) < 1:
        return "What is missing was searched for, and not found: is it in the index at all?"
    return "What is missing was never searched for: each search found what it was for."


def _results(span: Span) -> list[Attributes]:
    """Return the results that a span holds, one a scope."""
    return [e.attributes for e in span.events if e.name == semconv.EVALUATION_EVENT]


def _passages(context: Sequence[Passage], results: Iterable[Attributes]) -> Text:
    cited = {position for r in results for position in r.get(semconv.PASSAGES_CITED) or ()}
    line = Text("fetched   ", style="dim")
    for position, passage in enumerate(context, start=1):
        title = shown((passage.text or "?").partition("\n")[0], _TITLE)
        line.append(
            f"✓ {title}" if position in cited else title, "green" if position in cited else "dim"
        )
        line.append(", " if position < len(context) else "")
    return line if context else Text("fetched   nothing", style="red")


def _scores(result: Attributes) -> Text:
    scope = f"{result.get(semconv.EVAL_SCOPE, ''):<8}"
    if result.get(semconv.STATUS) != "scored":
        why = result.get(semconv.REASON) or "the query needs no retrieval"
        return Text.assemble(scope, "  ", (f"{result.get(semconv.STATUS)}: {why}", "yellow"))
    parts = [Text(scope)]
    for name, key in _SCORES.items():
        if (value := result.get(key)) is not None:
            parts.append(Text.assemble(f"{name} ", (f"{value:.2f}", _style(name, value))))
    absent = result.get(semconv.ABSENT) or ()
    parts += [Text(f"({shown(str(reason), 80)})", style="dim") for reason in absent]
    return Text("  ").join(parts)


def _style(name: str, value: Any) -> str:
    if "recall" not in name:
        return "bold"
    return "bold green" if value == 1 else "bold red" if value == 0 else "bold yellow"
