"""The question inside an input: unwrapped from JSON, arguments, pipelines and message lists."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from seer_otel.dialects.values import is_redacted, looks_like_json, parse_json, text

_KEYS: Final = (
    "question",
    "query",
    "query_str",
    "user_query",
    "user_input",
    "input",
    "inputs",
    "prompt",
    "messages",
    "message",
    "task",
)
_WRAPPERS: Final = ("str_or_query_bundle", "query_bundle", "qb", "data", "kwargs", "args")
_TRIED: Final = frozenset(_KEYS + _WRAPPERS)
_DEPTH: Final = 50
_VECTOR: Final = re.compile(r"<[0-9]{1,9}-dimensional vector>")
"""How OpenInference writes a query that is an embedding."""
_USERS: Final = ("user", "human")
_TEXT_PARTS: Final = (None, "text", "input_text")


@dataclass(frozen=True, slots=True)
class Question:
    """What an input asks."""

    text: str | None = None
    redacted: bool = False
    """Whether a question was there and was hidden; never where there is a text."""


NO_QUESTION: Final = Question()


def plain(value: object) -> Question:
    """Read a value that is text by its convention: it is taken as it stands."""
    return Question(_asked(value), redacted=is_redacted(value))


def unwrap(value: object) -> Question:
    """
    Find the question in a value of any shape.

    A text that is JSON is opened. An object leads to its question through the keys that
    applications use; a pipeline's input through those of its components, if they agree; a list
    of messages through the user's last one.
    """
    search = _Search()
    found = search.value(value, _DEPTH)
    return Question(found, redacted=found is None and search.redacted)


class _Search:
    """
    One walk through a value. No part of it is looked at more often than it is nested in texts.

    `depth` is how much deeper the walk may go.
    """

    def __init__(self) -> None:
        self.redacted = False

    def value(self, value: object, depth: int) -> str | None:
        if depth <= 0:
            return None
        if isinstance(value, str):
            return self._string(value, depth - 1)
        if isinstance(value, Mapping):
            return self._object(value, depth - 1)
        if isinstance(value, Sequence) and not isinstance(value, bytes):
            return self._list(value, depth - 1)
        return None

    def _string(self, value: str, depth: int) -> str | None:
        found = _asked(value)
        if found is None:
            self.redacted = self.redacted or is_redacted(value)
            return None
        if looks_like_json(found) or found == "null":
            try:
                parsed = parse_json(found)
            except ValueError:
                return found  # a question may begin with a brace
            return self.value(parsed, depth)
        return found

    def _object(self, value: Mapping[str, Any], depth: int) -> str | None:
        for key in _KEYS + _WRAPPERS:
            if key in value:
                look = self._arguments if key == "args" else self.value
                found = look(value[key], depth)
                if found is not None:
                    return found
        return self._pipeline(value, depth)

    def _pipeline(self, value: Mapping[str, Any], depth: int) -> str | None:
        """Read the inputs of a pipeline's components; two different questions are none."""
        if not value or not all(isinstance(component, Mapping) for component in value.values()):
            return None
        # What is under the keys above was searched through already.
        components = [component for name, component in value.items() if name not in _TRIED]
        for key in _KEYS:
            inputs = (component[key] for component in components if key in component)
            texts = {found for found in (self.value(i, depth) for i in inputs) if found is not None}
            if texts:
                return texts.pop() if len(texts) == 1 else None
        return None

    def _arguments(self, value: object, depth: int) -> str | None:
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            strings = (item for item in value if isinstance(item, str))
            return self.value(next(strings, value), depth)
        return self.value(value, depth)

    def _list(self, items: Sequence[Any], depth: int) -> str | None:
        for message in reversed(items):
            said = _said(message) if _is_users(message) else None
            if said is not None:
                return self._string(said, depth)
        return self.value(items[0], depth) if len(items) == 1 else None


def _asked(value: object) -> str | None:
    found = text(value)
    return None if found is None or _VECTOR.fullmatch(found.strip()) else found


def _is_users(message: object) -> bool:
    """Whether a message is the user's, in the shapes of OpenAI, GenAI and LangChain."""
    if not isinstance(message, Mapping):
        return False
    inner = message.get("kwargs")
    speakers = [message.get("role"), message.get("type")]
    if isinstance(inner, Mapping):
        speakers += [inner.get("role"), inner.get("type")]
    return any(isinstance(speaker, str) and speaker.lower() in _USERS for speaker in speakers)


def _said(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message; None where it has none, as with a tool's result."""
    places = [message.get("content")]
    for wrapper in ("data", "kwargs"):
        inner = message.get(wrapper)
        if isinstance(inner, Mapping):
            places.append(inner.get("content"))
    places.append(message.get("parts"))
    for content in places:
        found = "\n".join(_texts(content))
        if found.strip():
            return found
    return None


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Sequence) and not isinstance(content, bytes):
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS:
                said = (part.get(key) for key in ("text", "content"))
                yield next((value for value in said if isinstance(value, str)), "")
