"""
Reads what a language model replied.

The whole reply must be one JSON object, once the thinking and a code fence around it are taken
off. Nothing is salvaged from anything else: an object that stands beside other text may be an
echo of a passage.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seer_otel.errors import JudgeParse

MAX_REQUIREMENTS = 50
"""More pieces than any question needs: a reply with more did not understand what was asked."""

NO_SUCH_PASSAGE = 0
"""Stands for a citation that names no number; passages are numbered from 1."""

_Shape = TypeVar("_Shape", bound=BaseModel)

# The opening tag is often missing: chat templates put it into the prompt.
_THINKING_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCED = re.compile(r"```[a-z0-9]*\s*\n(.*?)\n?\s*```", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"[\s\[(#]*(?:(?:passage|p|requirement|r)\W?)?\s*(\d{1,6})[\s\])]*", re.I)


@dataclass(frozen=True, slots=True)
class SupportReply:
    """Requirement numbers to passage numbers, and the requirements the model is unsure of."""

    citations: Mapping[int, tuple[int, ...]]
    unsure: frozenset[int]


class _Requirements(BaseModel):
    requirements: list[str] = Field(max_length=MAX_REQUIREMENTS)


class _Verdict(BaseModel):
    model_config = ConfigDict(strict=True)

    requirement: int | float | str
    passages: list[object]
    unsure: bool = False


class _Verdicts(BaseModel):
    verdicts: list[_Verdict]


def read_requirements(reply: str) -> tuple[str, ...]:
    """
    Read a list of requirements; blank ones and repetitions are left out.

    Raises:
        JudgeParse: The reply is not such a list and nothing else, or repeats the `...` that stands
            for requirements in the prompt.
    """
    found = (" ".join(text.split()) for text in _read(reply, _Requirements).requirements)
    requirements = tuple(dict.fromkeys(text for text in found if text))
    if not all(any(map(str.isalnum, text)) for text in requirements):
        raise JudgeParse("the judge listed a requirement without a word")
    return requirements


def read_support(reply: str) -> SupportReply:
    """
    Read the verdicts on numbered requirements.

    Raises:
        JudgeParse: The reply is not a list of verdicts and nothing else, or answers twice.
    """
    citations: dict[int, tuple[int, ...]] = {}
    unsure = set()
    for verdict in _read(reply, _Verdicts).verdicts:
        requirement = _number(verdict.requirement)
        if requirement in citations:
            raise JudgeParse("the judge answered a requirement twice")
        citations[requirement] = tuple(_number(cited) for cited in verdict.passages)
        if verdict.unsure:
            unsure.add(requirement)
    return SupportReply(citations, frozenset(unsure))


def repeats(reply: str, data: str) -> bool:
    """
    Whether a reply is a piece of what was shown: then it is a passage's answer, not the judge's.

    Thinking, a code fence and white space count for nothing.
    """
    return _compact(_answer(reply)) in _compact(data)


def _compact(text: str) -> str:
    return "".join(text.split())


def _read(reply: str, shape: type[_Shape]) -> _Shape:
    try:
        return shape.model_validate(_object(reply))
    except ValidationError:
        # Its message quotes the reply.
        raise JudgeParse("the judge's reply has not the shape that was asked for") from None


def _object(reply: str) -> object:
    try:
        # A reply that is an object is taken whole, whatever its strings contain.
        return json.loads(reply)
    except ValueError:
        pass
    try:
        return json.loads(_answer(reply))
    except ValueError:
        raise JudgeParse("the judge's reply is not one JSON object and nothing else") from None


def _answer(reply: str) -> str:
    """Return a reply without the thinking before it and the code fence around it."""
    answer = _THINKING_ENDS.split(reply)[-1].strip()
    fenced = _FENCED.fullmatch(answer)
    return fenced[1] if fenced else answer


def _number(value: object) -> int:
    """
    Read a number that names a passage or a requirement.

    A number is a whole number (`2`, `2.0`), or a text that is one, alone or after `P`, `passage`,
    `R` or `requirement`, in brackets or not: `"2"`, `"P2"`, `"[2]"`, `"Passage 2"`. Anything else
    names nothing.
    """
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value)):
        return int(match[1])
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return NO_SUCH_PASSAGE
