"""A text as statements: its sentences and list items, found by their form and not by a judge."""

import re
from collections.abc import Iterator
from typing import Final

_END: Final = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[^\sa-z])|(?<=[。！？])|[;；]\s*|\s*\n+\s*")
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|\w\.\w|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|No|Nr|Art|Fig|Inc|Ltd|Co|vs|bzw|ca|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|approx|al)\.$"
)
_BULLET: Final = re.compile(r"^\s*(?:[-*•–—·]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+")
_LETTER: Final = re.compile(r"\w")


def statements(text: str) -> tuple[str, ...]:
    """
    Break a text into statements, in its own words: sentences, lines, and clauses at semicolons.

    The same text has the same statements, whoever judges them. What holds no letter or digit is
    none; a statement that is there twice counts once.
    """
    lines = (_BULLET.sub("", line) for line in text.splitlines())
    tidied = (" ".join(piece.split()) for line in lines for piece in _pieces(line))
    return tuple(dict.fromkeys(piece for piece in tidied if _LETTER.search(piece)))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        piece = text[start : end.start()]
        if not _ABBREVIATION.search(piece):
            yield piece
            start = end.end()
    yield text[start:]
