"""
What an endpoint takes of all that can be asked of it.

Servers differ. Each difference is found out by being refused, once, and remembered for as long as
the endpoint is in use.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from seer_otel.judge.prompting import Messages

SEED: Final = 7
TEMPERATURE: Final = 0

CHAT: Final = "/chat/completions"
RESPONSES: Final = "/responses"

Level = tuple[int, ...]
"""How far down each ladder a request stood."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The shape of a reply, as a name and a JSON schema."""

    name: str
    schema: Mapping[str, object]


_LADDERS: Final = (
    ((CHAT, RESPONSES), r"v1/responses"),
    (
        ("json_schema", "json_object", None),
        r"response_format|text\.format|json_schema|json_object|structured[ _]output"
        r"|guided_|grammar",
    ),
    (
        ("max_completion_tokens", "max_tokens", None),
        r"max_completion_tokens|max_tokens|max_output_tokens",
    ),
    (("temperature", None), r"\btemperature\b"),
    (("seed", None), r"\bseed\b"),
)
"""
Each wish is a ladder: what is preferred first, what is given up for it last. A refusal that names
what is on a rung leads to the next.
"""


class Manners:
    """Remembers how an endpoint wants to be asked."""

    def __init__(self) -> None:
        self.level: Level = (0,) * len(_LADDERS)

    def request(
        self, model: str, messages: Messages, schema: Schema, room: int
    ) -> tuple[Level, str, dict[str, object]]:
        """Return how a request is made now: at which level, to which path, with which body."""
        path, shape, limit, temperature, seed = (
            rungs[step] for (rungs, _), step in zip(_LADDERS, self.level, strict=True)
        )
        body: dict[str, object] = {"model": model}
        if temperature:
            body["temperature"] = TEMPERATURE
        if path == RESPONSES:
            # Texts of others are not to be stored for their answer's sake.
            body |= {"input": messages, "store": False, **_text_format(shape, schema)}
            if limit:
                body["max_output_tokens"] = room
            return self.level, RESPONSES, body
        body |= {"messages": messages, **_response_format(shape, schema)}
        if limit:
            body[limit] = room
        if seed:
            body["seed"] = SEED
        return self.level, CHAT, body

    def lower(self, refused: Level, said: str) -> bool:
        """Give up what a refusal names; return whether it named something that was asked for."""
        named = [
            step + 1 < len(rungs) and re.search(words, said, re.IGNORECASE) is not None
            for (rungs, words), step in zip(_LADDERS, refused, strict=True)
        ]
        # Other requests, refused in the meantime, may have led further down already.
        self.level = tuple(
            max(now, step + down)
            for now, step, down in zip(self.level, refused, named, strict=True)
        )
        return any(named)


def _response_format(shape: str | None, schema: Schema) -> dict[str, object]:
    if shape == "json_schema":
        named = {"name": schema.name, "strict": True, "schema": schema.schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    return {"response_format": {"type": shape}} if shape else {}


def _text_format(shape: str | None, schema: Schema) -> dict[str, object]:
    if shape == "json_schema":
        named = {"name": schema.name, "strict": True, "schema": schema.schema}
        return {"text": {"format": {"type": "json_schema", **named}}}
    return {"text": {"format": {"type": shape}}} if shape else {}
