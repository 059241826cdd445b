"""Tool calls that return documents: off unless an application names the tools."""

from collections.abc import Iterable
from typing import Final

from seer_otel import semconv
from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import json_object, text

_NAMES: Final = ("gen_ai.tool.name", "ai.toolCall.name", "tool.name")
_ARGUMENTS: Final = ("gen_ai.tool.call.arguments", "ai.toolCall.args", "input.value")
_RESULTS: Final = ("gen_ai.tool.call.result", "ai.toolCall.result", "output.value")
_LISTS: Final = ("documents", "results")


class ToolDialect:
    """
    Reads the calls of some tools as retrievals: GenAI, Vercel's AI SDK, OpenInference.

    A tool may return anything, and most return no documents: so none is read that is not named.

    Args:
        names: Names of the tools, as they stand on the spans.
    """

    name = "tool"
    markers: tuple[bytes, ...] = (
        b"execute_tool",
        b"ai.toolCall",
        semconv.OPENINFERENCE_KIND.encode(),
    )
    instrumentations: tuple[Instrumentation, ...] = (
        Instrumentation(
            "Tool calls: GenAI (`execute_tool`), Vercel AI SDK (`ai.toolCall`), OpenInference "
            "(TOOL)",
            "The tools' names: `tools: [names]` for the evaluator, `SEER_TOOLS` for the processor.",
            "Whether a tool returns documents.",
        ),
    )

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def read(self, span: Span) -> Reading | None:
        """Read the call of a tool that was named; None for any other span."""
        if not _is_tool_call(span) or _tool_name(span) not in self._names:
            return None
        found = passages.returned(_returned(span), *passages.LANGCHAIN_KEYS)
        return compose(span, self.name, question(span, *_ARGUMENTS), passages.ranked(found))


def returns_documents(span: Span) -> str | None:
    """Return the name of a tool whose call, on this span, returned a list of documents."""
    if not _is_tool_call(span):
        return None
    found = passages.in_attribute(_returned(span), *passages.LANGCHAIN_KEYS)
    return _tool_name(span) if any(passage.readable for passage in found.passages) else None


def _is_tool_call(span: Span) -> bool:
    kind = span.attributes.get(semconv.OPENINFERENCE_KIND)
    return (
        span.attributes.get(semconv.GEN_AI_OPERATION) == "execute_tool"
        or span.attributes.get("ai.operationId") == "ai.toolCall"
        or (isinstance(kind, str) and kind.upper() == "TOOL")
    )


def _tool_name(span: Span) -> str:
    names = (text(span.attributes.get(key)) for key in _NAMES)
    return next((name for name in names if name is not None), span.name)


def _returned(span: Span) -> object:
    """Return what the tool did: documents, one text, or anything; of an object, its list."""
    result = next((span.attributes[key] for key in _RESULTS if key in span.attributes), None)
    fields = json_object(result)
    return next((fields[key] for key in _LISTS if key in fields), result)
