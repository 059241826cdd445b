"""Text as the local judge reads it: terms, sentences and names, in any script."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import dropwhile

from seer_otel.judge.local.patterns import STOP_CHARACTERS
from seer_otel.judge.local.vocabulary import ALIASES, STOP_WORDS

STEM = 6
"""
Characters of a word that count. Cutting words short is a stemmer of no language, and a fair one
of most that inflect at the end.
"""

REMEMBERED = 1 << 15
"""Words whose terms are kept at hand, at most."""

PIECE = 4
"""Characters of a piece of a word."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"  # kana, Han
    "\uac00-\ud7af\U00020000-\U0003ffff"  # Hangul (its particles stick to words), rare Han
)
"""Scripts whose words have no spaces between them: read as pairs of characters."""

_CAPITALS = "".join(map(chr, filter(lambda code: chr(code).isupper(), range(0x590))))
CAPITALISED = rf"[{_CAPITALS}](?:(?![{UNSPACED}])[\w’'-])*"
"""The pattern of a word with a capital."""

NAME = (
    rf"{CAPITALISED}(?:(?:(?<=\b\w)\.)?[ ]"
    rf"(?:(?:of|the|de|da|la|le|von|van|der|du|di|al|bin|ibn)[ ]){{0,2}}{CAPITALISED})*"
)
"""The pattern of a likely name: capitalised words in a row, with the particles between them."""

_NAME = re.compile(NAME)
_TOKEN = re.compile(rf"\d+(?:[.,:]\d+)+|[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_])+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_PLURAL = re.compile(r"(?<=[a-z]{3})(?:ies|ied|y)$|(?<=[a-z]{2}[^su\W\d])(?:es|s)$")
_SENTENCE = re.compile(
    r"(?<=\w\w[.)\]»”])\s+(?=[^\sa-z])|(?<=[!?;])[\"'”’)\]]*\s+"
    rf"|(?<=[!?])(?=[{UNSPACED}])|(?<=[。！？；])|\n+"
)


class _Letters(dict[int, int | str | None]):
    """A table for `str.translate` that fills itself: marks and strokes through letters vanish."""

    def __missing__(self, code: int) -> int | None:
        kept = None if unicodedata.category(chr(code)).startswith("M") else code
        self[code] = kept
        return kept


_letters = _Letters({ord("ł"): "l", ord("ø"): "o", ord("đ"): "d", ord("ı"): "i"})


def fold(text: str) -> str:
    """Return the text in small letters, without accents and width variants."""
    if text.isascii():
        return text.lower()
    text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", text).translate(_letters)


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that has no spaces between words."""
    return bool(_UNSPACED.match(character))


def tokens(text: str) -> list[str]:
    """Return the words of a text, folded; a run of an unspaced script is one."""
    return _TOKEN.findall(fold(text))


def terms(text: str) -> list[str]:
    """Return what two texts are compared by: stems of content words, pairs of characters."""
    return [term for token in tokens(text) for term in _terms(token)]


@lru_cache(maxsize=REMEMBERED)
def _terms(token: str) -> tuple[str, ...]:
    if is_unspaced(token):
        runs = STOP_CHARACTERS.split(token)
        return tuple(run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1)) if run)
    return () if token in STOP_WORDS else (_stem(token),)


def _stem(token: str) -> str:
    """Return the part of a word that its forms have in common; numbers and codes stay whole."""
    if any(character.isdigit() for character in token):
        return token
    return _PLURAL.sub("", ALIASES.get(token, token))[:STEM]


def shingles(text: str) -> Iterator[str]:
    """
    Yield the pieces of content words, four characters each; short words and pairs are whole.

    Two words that a stem does not bring together still share pieces: compounds, and forms that
    change in the middle.
    """
    for token in tokens(text):
        yield from _shingles(token)


@lru_cache(maxsize=REMEMBERED)
def _shingles(token: str) -> tuple[str, ...]:
    if is_unspaced(token):
        return _terms(token)
    places = range(0 if token in STOP_WORDS else max(1, len(token) - PIECE + 1))
    return tuple(token[place : place + PIECE] for place in places)


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text; at least one."""
    return [part for part in _SENTENCE.split(text) if part and not part.isspace()] or [text]


def names(text: str) -> list[str]:
    """Return the likely names, in order of appearance; none in scripts without capitals."""
    spans = (match.group().split() for match in _NAME.finditer(text))
    found = (" ".join(dropwhile(lambda word: not terms(word), span)) for span in spans)
    return [name for name in dict.fromkeys(found) if name]


def script(term: str) -> str:
    """Return the script of a term, by the name of its first character: "LATIN", "CJK", "DIGIT"."""
    return unicodedata.name(term[0], "").partition(" ")[0]
