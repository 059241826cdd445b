"""The parts of a compound question: where one thing asked ends and the next begins."""

import re

from seer_otel.judge.local.patterns import ASKING_CHARACTERS
from seer_otel.judge.local.vocabulary import (
    ALSO_RELATIVE,
    ASKING_VERBS,
    ASKING_WORDS,
    CONJUNCTIONS,
    STARTING_POINTS,
    STOP_WORDS,
)
from seer_otel.judge.local.words import is_unspaced, names, sentences, terms, tokens

LEAST_TERMS = 3
"""With fewer in the sentences that ask, the sentences around them are needed to understand them."""

LONGEST = 1000
"""Characters of a sentence; a longer one is left in one piece."""

_GAP = re.compile(r"[,，;、]\s*|\s+")
_EDGES = " \t\n,;:，、；：。.?？!！¿¡-–—…"
_CLOSING = " \t\n\"'”’»)]"

_LEADING_CONJUNCTION = re.compile(rf"^(?:{'|'.join(sorted(CONJUNCTIONS))})\s+", re.I)
_POSSESSED = re.compile(r"^(?:what|which|who) (?:is|are|was|were) (?:their|his|her) (.+)$", re.I)
_PERSON = re.compile(r"\b(?:he|she|they|him|them)\b", re.I)
_WHO = re.compile(r"^who (.+)$", re.I)


def tidy(text: str) -> str:
    """Return a text on one line, without the punctuation around it."""
    line = " ".join(text.split())
    return line.strip(_EDGES) or line


def parts(query: str) -> list[str]:
    """
    Return what a query asks, one text a part; at least one.

    Sentences that ask nothing tell the situation: they are left out where others ask.
    """
    said = sentences(query)
    asking = [text for text in said if text.rstrip(_CLOSING).endswith(("?", "？"))]
    asking = asking or [text for text in said if asks(text)]
    pieces = [tidy(piece) for text in asking for piece in _pieces(text)]
    pieces = [piece for piece in pieces if terms(piece)]
    if len({term for piece in pieces for term in terms(piece)}) < LEAST_TERMS:
        return [tidy(query)]
    return [pieces[0], *(_resolved(piece, pieces[0]) for piece in pieces[1:])]


def asks(text: str) -> bool:
    """Whether a text has the marks of a question: an asking word, or a verb in the first place."""
    words = tokens(text)
    return (
        not ASKING_WORDS.isdisjoint(words)
        or bool(words and words[0] in ASKING_VERBS)
        or bool(ASKING_CHARACTERS.search(text.rstrip(_EDGES)))
    )


def _pieces(sentence: str) -> list[str]:
    """Cut a sentence where a further question begins; what asks nothing stays with a neighbour."""
    cuts = [0]
    for gap in _GAP.finditer(sentence) if len(sentence) <= LONGEST else ():
        before, after = sentence[cuts[-1] : gap.start()], sentence[gap.end() :]
        if _begins(after, comma=not gap[0].isspace()) and asks(before) and terms(before):
            cuts.append(gap.end())
    return [sentence[start:end] for start, end in zip(cuts, [*cuts[1:], None], strict=True)]


def _begins(text: str, comma: bool) -> bool:
    """Whether a question of its own begins here: "and how …", "until when …", "and is …"."""
    if is_unspaced(text[:1]):
        return comma and asks(text)
    first, second, third = (*tokens(text[:60]), "", "", "")[:3]
    if first in CONJUNCTIONS:
        return (
            (second in ASKING_WORDS and second != "que")
            or (second in STOP_WORDS and third in ASKING_WORDS and third != "que")
            or (comma and second in ASKING_VERBS)
        )
    return comma and (
        first in ASKING_WORDS - ALSO_RELATIVE
        or (first in STOP_WORDS and second in ASKING_WORDS - ALSO_RELATIVE)
        or (first in STARTING_POINTS and second in ASKING_WORDS)
    )


def _resolved(part: str, first: str) -> str:
    """Return a later part with what it leaves to the first one, as far as the wording shows it."""
    part = _LEADING_CONJUNCTION.sub("", part)
    if names(part) or any(character.isdigit() for character in part):
        return part
    if who := _WHO.match(first):
        subject = f"the person who {who[1]}"
        if found := _POSSESSED.match(part):
            return f"the {found[1]} of {subject}"
        if _PERSON.search(part):
            return _PERSON.sub(lambda _: subject, part, count=1)
    named = names(first)
    return f"{part} ({', '.join(named[:3])})" if named else part
