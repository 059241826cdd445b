"""Which passages are one document, and which documents a judge cited."""

import unicodedata
from collections.abc import Collection, Iterable, Sequence

from seer_otel.retrieval import Passage


def document(text: str) -> str:
    """Return what identifies a document: its text in Unicode NFC, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def documents(context: Iterable[Passage]) -> tuple[str | None, ...]:
    """Return the document at each position; None where an item has no readable text."""
    return tuple(
        document(passage.text) if passage.text is not None and passage.readable else None
        for passage in context
    )


def supporting(
    documents: Sequence[str | None], requirements: Iterable[Collection[int]]
) -> tuple[frozenset[str], ...]:
    """
    Return, for each requirement, the documents that support it.

    A citation of a position that holds no passage, or does not exist, counts for nothing.

    Args:
        documents: The document at each position, as `documents` returns them.
        requirements: For each requirement the positions cited, from 1.
    """
    at = {position: text for position, text in enumerate(documents, start=1) if text is not None}
    return tuple(
        frozenset(at[position] for position in positions if position in at)
        for positions in requirements
    )
