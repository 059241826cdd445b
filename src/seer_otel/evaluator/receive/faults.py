"""What is wrong with a body, field by field, in words; never with what the fields hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

_MOST: Final = 10
"""Faults that are told of one body."""

_WORDS: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "string_type": "expected a text",
    "bool_type": "expected true or false",
    "float_type": "expected a number",
    "list_type": "expected a list",
    "dict_type": "expected an object",
    "model_type": "expected an object",
}

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Fault:
    """One field that will not do."""

    field: str
    """Where it stands, such as `context[1].text`; empty: the whole body."""
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class Invalid(Exception):
    """Raised when a body is JSON, and not of the shape that is wanted."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = tuple(faults)


def checked(model: type[M], body: object) -> M:
    """
    Check a body.

    Raises:
        Invalid: It is not what the model says.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:_MOST]
    raise Invalid([Fault(_path(each["loc"]), _words(each)) for each in found])


def _path(location: Sequence[str | int]) -> str:
    path = ""
    for before, part in zip(("", *location), location, strict=False):
        if isinstance(part, int):
            path += f"[{part}]"
        elif not isinstance(before, int):  # after a number stands which kind of item was tried
            path += f".{part[:100]}" if path else part[:100]
    return path


def _words(error: Mapping[str, Any]) -> str:
    kind: str = error["type"]
    if kind == "extra_forbidden":
        return "there is no such field"
    message: str = error["msg"].removeprefix("Value error, ")
    return _WORDS.get(kind, message[:1].lower() + message[1:])
