"""
What a language model is shown.

The instructions come first and never vary, so that a server can reuse its work on them. What
follows is data that strangers wrote: each part begins with a tag that carries a code drawn for the
request, and ends at the next; anything in it that looks like one of these tags is defused, and what
nobody sees is left out.
"""

import re
import secrets
from collections.abc import Callable, Iterable

from seer_otel.judge.protocol import Asked, Question

Messages = list[dict[str, str]]
Nonce = Callable[[], str]

_UNSEEN = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e01ef]"
)
"""
Characters that no reader sees, and a model may read: they can carry text of their own. Those that
join letters, in Persian or in emoji, stay.
"""

_GAP = "[\\s\u200c\u200d]*"
_TAGS = "|".join(_GAP.join(name) for name in ("question", "requirements", "passage", "end"))
_LOOKS_LIKE_A_TAG = re.compile(rf"[<＜﹤](?={_GAP}[/／]?{_GAP}(?:{_TAGS})\b)", re.IGNORECASE)

_CONSONANTS, _VOWELS = "bcdfghjklmnpqrstvwxyz", "aeiou"


def draw_nonce() -> str:
    """
    Draw a code that nobody who wrote the data can have known.

    A word that could be one takes a model two tokens, where a number takes ten.
    """
    return "".join(map(secrets.choice, (_CONSONANTS, _VOWELS) * 2))


def requirements_prompt(instructions: str, query: str, nonce: Nonce = draw_nonce) -> Messages:
    """Ask for the requirements of a query, showing nothing but the query."""
    code = _code(nonce, (query,))
    return _messages(instructions, [*_block("question", code, query), f"<end {code}>"])


def support_prompt(instructions: str, question: Question, nonce: Nonce = draw_nonce) -> Messages:
    """Ask which passages support which requirements, for all scopes together."""
    code = _code(nonce, _texts(question))
    lines = [f"The code of this request is {code}."]
    for asked in question.asked:
        lines += _block("question", code, asked.query)
        lines += _block("requirements", code, _numbered(asked))
    for number, text in question.passages.items():
        lines += _block("passage", f"{code} {number}", text)
    numbers = ", ".join(str(n) for asked in question.asked for n in asked.requirements)
    lines += [f"<end {code}>", f"Give a verdict on each of the requirements {numbers}."]
    return _messages(instructions, lines)


def _messages(instructions: str, lines: Iterable[str]) -> Messages:
    return [
        {"role": "system", "content": instructions},
        {"role": "user", "content": "\n".join(lines)},
    ]


def _block(tag: str, label: str, text: str) -> tuple[str, str]:
    # JavaScript cuts characters in two; half a one cannot be sent.
    text = _UNSEEN.sub("", text.encode("utf-8", "replace").decode("utf-8"))
    return f"<{tag} {label}>", _LOOKS_LIKE_A_TAG.sub("&lt;", text)


def _numbered(asked: Asked) -> str:
    # One line each: a line break in a requirement could pass for another number.
    return "\n".join(f"{n}. {' '.join(text.split())}" for n, text in asked.requirements.items())


def _texts(question: Question) -> tuple[str, ...]:
    return (
        *question.passages.values(),
        *(asked.query for asked in question.asked),
        *(text for asked in question.asked for text in asked.requirements.values()),
    )


def _code(nonce: Nonce, texts: tuple[str, ...]) -> str:
    """Draw a code that occurs nowhere in the data; it grows, so that none can hold every code."""
    code = nonce()
    while any(code in text for text in texts):
        code += nonce()
    return code
