"""What any span may say about its trace: the input it was given, and its conversation."""

from typing import Final

from seer_otel import semconv
from seer_otel.dialects.question import Question, plain, unwrap
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import identifier

_TEXT_KEYS: Final = frozenset(
    {
        semconv.TASK,
        semconv.SUBQUERY,
        semconv.GEN_AI_QUERY,
        "reranker.query",
        "ai.observability.record_root.input",
        "ai.observability.retrieval.query_text",
        "db.vector.query.content",
    }
)
"""Keys whose value is text by convention: a question that looks like JSON is a question."""

_INPUT_KEYS: Final = (
    semconv.TASK,
    "input.value",
    "gen_ai.input.messages",
    "pydantic_ai.all_messages",
    "langfuse.observation.input",
    "mlflow.spanInputs",
    "ai.observability.record_root.input",
    "traceloop.entity.input",
    "gen_ai.task.input",
    "haystack.pipeline.input_data",
    "gen_ai.workflow.input",
    "gen_ai.prompt",
    "ai.prompt",
    "gen_ai.tool.call.arguments",
    "ai.toolCall.args",
    semconv.SUBQUERY,
    semconv.GEN_AI_QUERY,
    "reranker.query",
    "ai.observability.retrieval.query_text",
    "db.vector.query.content",
)
"""Keys of an input, in every convention, by precedence."""

_CONVERSATION_KEYS: Final = (
    semconv.CONVERSATION_ID,
    semconv.GEN_AI_CONVERSATION_ID,
    "session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.conversation_id",
    "traceloop.association.properties.thread_id",
    "langsmith.metadata.session_id",
    "langsmith.metadata.conversation_id",
    "langsmith.metadata.thread_id",
    "ai.observability.conversation_id",
    "spring.ai.chat.client.conversation.id",
    "ai.telemetry.metadata.sessionId",
    "ai.telemetry.metadata.conversationId",
    "ai.telemetry.metadata.threadId",
)

INPUT_MARKERS: Final = tuple(key.encode() for key in _INPUT_KEYS + _CONVERSATION_KEYS)
"""
Byte strings of which every span with an input or a conversation id contains at least one.

A span whose bytes contain none of them has nothing to say about the retrievals below it, and need
not be decoded.
"""


def question(span: Span, *keys: str) -> Question:
    """Return the question of a span under the first of the keys that has one."""
    redacted = False
    for key in keys:
        if key in span.attributes:
            found = _under(span, key)
            if found.text is not None:
                return found
            redacted = redacted or found.redacted
    return Question(redacted=redacted)


def _under(span: Span, key: str) -> Question:
    value = span.attributes[key]
    if key in _TEXT_KEYS:
        return plain(value)
    if key == "input.value" and span.attributes.get("input.mime_type") == "text/plain":
        return plain(value)
    return unwrap(value)


def input_question(span: Span) -> Question:
    """Return what a span was asked, by any convention."""
    return question(span, *_INPUT_KEYS)


def readable_input(span: Span) -> str | None:
    """Return the text of what a span was asked, by any convention."""
    return input_question(span).text


def conversation_id(span: Span) -> str | None:
    """Return the id of the conversation that a span belongs to, by any convention."""
    values = (identifier(span.attributes.get(key)) for key in _CONVERSATION_KEYS)
    return next((value for value in values if value is not None), None)
