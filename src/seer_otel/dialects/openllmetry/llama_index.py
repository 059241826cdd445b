"""OpenLLMetry's spans of LlamaIndex: no marker tells retrievers and rerankers from other steps."""

import re
from collections.abc import Mapping
from typing import Any, Final

from seer_otel.dialects import passages
from seer_otel.dialects.openllmetry.step import Found, asked, came_out, went_in
from seer_otel.dialects.passages import CUT, EMPTY, Documents
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import json_object, parse_json

_QUERIES: Final = frozenset({"str_or_query_bundle", "query_bundle", "qb"})
"""Parameters in which LlamaIndex passes a query on: an empty list is then an empty result."""

_NODES: Final = re.compile(r'\s*\[\s*"?\{\\*"node\\*"')
"""How a list of nodes begins, each of them JSON, or JSON in JSON."""


def find(span: Span) -> Found | None:
    """Find a step that put out a list of nodes with their scores."""
    documents = _nodes(span)
    return None if documents is None else Found(asked(span), documents)


def _nodes(span: Span) -> Documents | None:
    output = items = came_out(span)
    if isinstance(output, str):
        if not output.lstrip().startswith("["):
            return None
        try:
            items = parse_json(output)
        except ValueError:
            return CUT if _NODES.match(output) else None
    if items == []:
        return None if _QUERIES.isdisjoint(json_object(went_in(span))) else EMPTY
    nodes = [_node(item) for item in items] if isinstance(items, list) else []
    return passages.listed(nodes, "text") if any(nodes) else None


def _node(item: object) -> Mapping[str, Any] | None:
    """Open one node with its score; None where it is none."""
    fields = json_object(item)
    return fields if isinstance(fields.get("node"), Mapping) else None
