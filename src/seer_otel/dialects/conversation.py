"""
A conversation, as a JSON object of a file or of an HTTP body.

`turns` is a list of `{role, content, retrieval_context}`, or a JSON text of one, and
`expected_outcome` says what was to come of it. The names that DeepEval gives these fields in its
conversational test cases, in either spelling, are read too.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from seer_otel.dialects import passages
from seer_otel.dialects.values import identifier, json_object, parse_json, text
from seer_otel.errors import Undecodable
from seer_otel.retrieval import Conversation, Passage, Turn

_ROLES: Final = {
    "user": "user",
    "human": "user",
    "customer": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "agent": "assistant",
    "model": "assistant",
}
_CONTEXT: Final = ("retrieval_context", "retrievalContext", "context")
_EXPECTED: Final = ("expected_outcome", "expectedOutcome")
_IDS: Final = ("record_id", "conversation_id", "conversationId", "id", "name")
_SOURCED: Final = re.compile(r"deepeval_source=(?P<source>.*?),deepeval_context=(?P<text>.*)", re.S)
"""How DeepEval writes a passage with its source into one text."""


def is_conversation(value: Mapping[str, Any]) -> bool:
    """Whether an object is a conversation, rather than one retrieval."""
    return "turns" in value


def conversation_from_event(value: Mapping[str, Any]) -> Conversation:
    """
    Read one conversation; messages of other roles than the user's and the assistant's are left.

    An expected outcome may be a text, or a list of statements.

    Raises:
        Undecodable: A field is not what it should be; the message says which, and what would do.
    """
    turns = value.get("turns")
    if isinstance(turns, str):
        try:
            turns = parse_json(turns)
        except ValueError:
            turns = None
    if not isinstance(turns, list):
        raise Undecodable('turns are no list; expected [{"role": "user", "content": …}, …]')
    read = (_turn(place, turn) for place, turn in enumerate(turns))
    return Conversation(
        turns=tuple(turn for turn in read if turn is not None),
        expected_outcome=_expected(value),
        record_id=next((id_ for name in _IDS if (id_ := identifier(value.get(name)))), None),
        metadata=json_object(value.get("metadata")),
    )


def _expected(value: Mapping[str, Any]) -> str | None:
    found = next((value[name] for name in _EXPECTED if value.get(name) is not None), None)
    if isinstance(found, list) and all(isinstance(each, str) for each in found):
        return text("\n".join(" ".join(each.split()) for each in found))
    if found is not None and not isinstance(found, str):
        raise Undecodable("expected_outcome is neither a text nor a list of statements")
    return text(found)


def _turn(place: int, turn: object) -> Turn | None:
    if not isinstance(turn, Mapping) or not isinstance(turn.get("role"), str):
        raise Undecodable(f'turns[{place}] is no message; expected {{"role": …, "content": …}}')
    role = _ROLES.get(turn["role"].lower())
    if role is None:
        return None
    return Turn(
        "user" if role == "user" else "assistant",
        _content(place, turn.get("content")),
        _context(place, turn),
    )


def _content(place: int, content: object) -> str:
    """Return the text of a message, which may come in parts; a message may be without any."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
        return "\n".join(part for part in parts if isinstance(part, str))
    raise Undecodable(f"turns[{place}].content is neither a text nor a list of parts")


def _context(place: int, turn: Mapping[str, Any]) -> tuple[Passage, ...]:
    items: Any = next((turn[name] for name in _CONTEXT if turn.get(name) is not None), [])
    if isinstance(items, str):
        items = [items]
    if not isinstance(items, list) or not all(isinstance(item, str | Mapping) for item in items):
        raise Undecodable(
            f"turns[{place}].retrieval_context is no list of texts, or of objects with a text"
        )
    opened = [_sourced(item) if isinstance(item, str) else item for item in items]
    return passages.listed(opened, "text", "context").passages


def _sourced(item: str) -> str | Mapping[str, str]:
    found = _SOURCED.fullmatch(item)
    return item if found is None else found.groupdict()
