"""Reads spans as they are recorded, and shows of their texts what may be seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from seer_otel.dialects import lookup
from seer_otel.dialects.node import Node, node
from seer_otel.dialects.reading import Dialect
from seer_otel.dialects.redaction import Redaction
from seer_otel.dialects.registry import DIALECTS
from seer_otel.dialects.span import Span


@dataclass(frozen=True, slots=True)
class Reader:
    """How spans are read, wherever they come in."""

    dialects: Sequence[Dialect] = DIALECTS
    redaction: Redaction | None = None

    def node(self, span: Span) -> Node:
        """Keep of a span what its trace needs to know."""
        return self._shown(node(span, self.dialects))

    def with_texts(self, node: Node, texts: Mapping[str, str]) -> Node:
        """Return a node with the texts that were found for the ids of its documents."""
        if node.reading is None:
            return node
        if self.redaction is not None:
            shown = {identity: self.redaction.text(text) for identity, text in texts.items()}
            texts = {identity: text for identity, text in shown.items() if text is not None}
        return replace(node, reading=lookup.with_texts(node.reading, texts))

    def _shown(self, node: Node) -> Node:
        return node if self.redaction is None else self.redaction.node(node)


READER: Final = Reader()
"""Reads all there is, in every dialect."""
