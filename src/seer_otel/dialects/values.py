"""Plain values out of attributes: what counts as a text, a number, a flag, an id, as JSON."""

import ast
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

REDACTED: Final = "__REDACTED__"
"""What instrumentations put in place of a text that they were told to hide."""

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NUMBER_LENGTH: Final = 64
_LITERAL_LENGTH: Final = 250_000
"""
Characters. Stores keep less beside a vector, and Python's own parser takes seconds for a million.
"""


def mended(text: str) -> str:
    """Return the text with every lone surrogate, which no encoding takes, replaced by U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def text(value: object) -> str | None:
    """Return a text that says something, as it stands; None where blank, hidden or no text."""
    if not isinstance(value, str) or not value.strip() or is_redacted(value):
        return None
    return mended(value)


def is_redacted(value: object) -> bool:
    """Whether a value is the placeholder of a hidden text."""
    return isinstance(value, str) and len(value) < 32 and value.strip() == REDACTED


def identifier(value: object) -> str | None:
    """Return an id as text: a text, or a number; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return repr(value) if abs(value) < 10**40 else None
    return text(value)


def number(value: object) -> float | None:
    """Return a finite number, also from a text like "0.75"; None for anything else."""
    if isinstance(value, str):
        stripped = value.strip() if len(value) <= _NUMBER_LENGTH else ""
        value = float(stripped) if _NUMBER.fullmatch(stripped) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def integer(value: object) -> int | None:
    """Return a whole number, also from a text like "2" or from 2.0; None for anything else."""
    found = number(value)
    return int(found) if found is not None and found.is_integer() else None


def flag(value: object) -> bool | None:
    """Return a bool, also from "true" and "false"; None for anything else."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def json_object(value: object) -> Mapping[str, Any]:
    """Return an object, also from a JSON text of one; an empty one for anything else."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = parse_json(value)
        except ValueError:
            return {}
    return value if isinstance(value, Mapping) else {}


def looks_like_json(value: str) -> bool:
    """Whether a text begins as a JSON object, list or text does."""
    return value.lstrip()[:1] in ("{", "[", '"')


def parse_json(source: str) -> Any:
    """
    Parse a JSON text. NaN, infinity and whole numbers too long to be meant become None.

    Raises:
        ValueError: It is no JSON, or is nested too deeply to be meant.
    """
    try:
        parsed = _loads(source)
        if _SURROGATE_ESCAPE.search(source):
            parsed = _loads(mended(json.dumps(parsed, ensure_ascii=False)))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return parsed


def _loads(source: str) -> Any:
    try:
        return json.loads(source, parse_constant=_nothing)
    except json.JSONDecodeError:
        raise
    except ValueError:  # Python's limit on the digits of a whole number
        return json.loads(source, parse_constant=_nothing, parse_int=_short_integer)


def _nothing(_: str) -> None:
    return None


def _short_integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _NUMBER_LENGTH else None


def parse_literal(source: str) -> Any:
    """
    Parse what Python's `repr` writes of plain values. Nothing in it is ever run.

    Raises:
        ValueError: It is no literal, or is too long or nested too deeply to be meant.
    """
    if len(source) > _LITERAL_LENGTH:
        raise ValueError("too long")
    try:
        return ast.literal_eval(source.strip())
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError("no literal") from error
