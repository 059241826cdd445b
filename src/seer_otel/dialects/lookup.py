"""Documents that came as ids alone: which ids, and the same reading with their texts."""

from collections.abc import Mapping
from dataclasses import replace

from seer_otel.dialects.reading import Reading
from seer_otel.dialects.values import mended
from seer_otel.retrieval import Passage


def missing(reading: Reading) -> tuple[str, ...]:
    """Return the distinct ids whose texts would make a context of what has no content."""
    if reading.reason != "no_content":
        return ()
    return tuple(dict.fromkeys(p.id for p in reading.context if p.text is None and p.id))


def with_texts(reading: Reading, texts: Mapping[str, str]) -> Reading:
    """
    Return a reading with the texts that were found for its ids.

    Documents whose text was not found stay without one. Where none was, nothing changes.
    """
    context = tuple(_with_text(passage, texts) for passage in reading.context)
    if not any(passage.readable for passage in context):
        return reading
    return replace(reading, state="retrieval", reason=None, context=context)


def _with_text(passage: Passage, texts: Mapping[str, str]) -> Passage:
    if passage.text is not None or passage.id is None:
        return passage
    text = texts.get(passage.id)
    return passage if text is None else replace(passage, text=mended(text))
