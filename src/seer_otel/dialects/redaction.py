"""
What is taken out of texts before they are judged, kept or counted.

Ids stay as they are: they are what things are found by.
"""

import importlib
import logging
import re
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from seer_otel.dialects.node import Node
from seer_otel.dialects.reading import Reading
from seer_otel.errors import ConfigError
from seer_otel.retrieval import GroundTruth, Passage

REDACTED: Final = "[redacted]"
"""Stands for what a pattern matched."""

_REMIND_S: Final = 60.0
_DEPTH: Final = 50
"""Levels of metadata that are looked at; what is deeper is left out."""

log = logging.getLogger(__name__)

Redact = Callable[[str], str]


def redaction_of(patterns: Sequence[str], function: str | None) -> "Redaction | None":
    """
    Return what was asked for; None where nothing was.

    Args:
        patterns: As `Redaction`.
        function: `module:function`, to be imported.

    Raises:
        ConfigError: There is no such function.
    """
    if not patterns and function is None:
        return None
    return Redaction(patterns, _imported(function) if function is not None else None)


def _imported(name: str) -> Redact:
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:  # a module may raise anything
        raise ConfigError(
            f"redact.function: {name} cannot be imported ({type(error).__name__}); "
            "PYTHONPATH says where modules are looked for"
        ) from None
    if not callable(found):
        raise ConfigError(f"redact.function: {name} is no function")
    redact: Redact = found
    return redact


class Redaction:
    """
    Takes out what patterns match, then what a function says.

    Args:
        patterns: Regular expressions, one after the other.
        function: From a text to what may be seen of it; called from several threads.
    """

    def __init__(self, patterns: Sequence[str] = (), function: Redact | None = None) -> None:
        self._patterns = [re.compile(pattern) for pattern in patterns]
        self._function = function
        self._told_s = float("-inf")

    def __call__(self, text: str) -> str:
        """
        Return what may be seen of a text.

        Raises:
            Exception: Whatever the function raises, or TypeError where it returns no text.
        """
        for pattern in self._patterns:
            text = pattern.sub(REDACTED, text)
        if self._function is not None:
            text = self._function(text)
            if not isinstance(text, str):
                raise TypeError("the function returned no text")
        return text

    def text(self, text: str) -> str | None:
        """Return what may be seen of a text; None where that cannot be told."""
        try:
            return self(text)
        except Exception as error:
            self._tell(error)
            return None

    def node(self, node: Node) -> Node:
        """Return a span with what may be seen of its texts: with none where that cannot be told."""
        try:
            read = None if node.reading is None else self._reading(node.reading)
            asked = self._asked(node.input)
        except Exception as error:
            self._tell(error)
            return _hidden(node)
        hidden = node.input_redacted or (node.input is not None and asked is None)
        return replace(node, input=asked, input_redacted=hidden, reading=read)

    def _reading(self, reading: Reading) -> Reading:
        query = self._asked(reading.query)
        context = tuple(self._passage(passage) for passage in reading.context)
        labels = reading.ground_truth
        redacted = replace(
            reading,
            query=query,
            query_redacted=reading.query_redacted or (reading.query is not None and query is None),
            task=self._asked(reading.task),
            context=context,
            ground_truth=labels and GroundTruth(labels.gold_doc_ids, self._asked(labels.answer)),
            metadata=self._values(reading.metadata),
            surroundings=self._values(reading.surroundings),
            expected_outcome=self._asked(reading.expected_outcome),
        )
        if reading.state == "retrieval" and not any(passage.readable for passage in context):
            return replace(redacted, state="not_evaluable", reason="redacted")
        return redacted

    def _asked(self, text: str | None) -> str | None:
        redacted = self(text) if text is not None else None
        return redacted if redacted and not redacted.isspace() else None

    def _passage(self, passage: Passage) -> Passage:
        return passage if passage.text is None else replace(passage, text=self(passage.text))

    def _values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self._value(value, _DEPTH) for key, value in values.items()}

    def _value(self, value: Any, depth: int) -> Any:
        match value:
            case str():
                return self(value)
            case Mapping() | list() if depth == 0:
                return None
            case Mapping():
                return {key: self._value(inner, depth - 1) for key, inner in value.items()}
            case list():
                return [self._value(inner, depth - 1) for inner in value]
        return value

    def _tell(self, error: Exception) -> None:
        """Say so, now and then. Never in the words of the error, which may quote the text."""
        now = time.monotonic()
        if now - self._told_s < _REMIND_S:
            return
        self._told_s = now
        frame = traceback.extract_tb(error.__traceback__)[-1]
        log.error(
            "the redaction failed (%s at %s:%s): what it fails for is not judged (`redacted`)",
            type(error).__name__,
            Path(frame.filename).name,
            frame.lineno,
        )


def _hidden(node: Node) -> Node:
    reading = node.reading
    if reading is not None:
        reading = Reading(
            reading.dialect,
            "not_evaluable",
            "redacted",
            query_redacted=True,
            conversation_id=reading.conversation_id,
            is_final_context=reading.is_final_context,
            sampled=reading.sampled,
            sample_rate=reading.sample_rate,
        )
    return replace(node, input=None, input_redacted=True, reading=reading)
