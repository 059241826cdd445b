"""The OpenAPI page, made of the models that guard the door."""

from functools import cache
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

import seer_otel
from seer_otel.evaluator.receive import schema
from seer_otel.verdict import Record

_REF: Final = "#/components/schemas/{model}"

_DESCRIPTION: Final = """\
Retrieval events for applications that record no spans: what was asked, and what was found.

An event without a trace becomes a trace of its own at the next hop, with its scores on it. An
event with a `trace_id` becomes a span of that trace; one with a `span_id` too gets its scores on a
span of their own under that one. `accepted` says that the event is on disk, or was not sampled.
The client may name an event (`record_id`); sent again under the same name it is judged once.

Spans come over OTLP: gRPC, or `POST /v1/traces`.
"""

_REFUSALS: Final = {
    "400": "The body is no JSON.",
    "401": "The key is missing, or wrong.",
    "413": "The body is too large.",
    "415": "The content type is not application/json, or the encoding neither gzip nor identity.",
    "422": "The body is JSON of another shape; it says which fields will not do.",
    "503": "Not now: try again, after the seconds in Retry-After.",
}


@cache
def page() -> dict[str, Any]:
    """Return the OpenAPI document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "seer-otel: retrieval events",
            "version": seer_otel.__version__,
            "description": _DESCRIPTION,
        },
        "paths": {
            "/v1/log": _post(
                "Log an event; it is judged later", schema.Event, _json(schema.Receipt)
            ),
            "/v1/log/batch": _post(
                "Log several events; each is answered", schema.Batch, _json(schema.BatchReceipt)
            ),
            "/v1/evaluate": _post(
                "Judge an event, whatever the sample rate, and wait for the verdict",
                schema.Event,
                _json(Record),
            ),
            "/v1/records/{record_id}": {"get": _lookup()},
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}, {}],
    }


def _post(summary: str, body: type[BaseModel], answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": _json(body)},
            "responses": {
                "200": {"description": "Done.", "content": answer},
                **_refusals(*_REFUSALS),
            },
        }
    }


def _lookup() -> dict[str, Any]:
    return {
        "summary": "Look up what became of an event, or of a span (`<trace id>-<span id>`)",
        "parameters": [
            {
                "name": "record_id",
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1},
            }
        ],
        "responses": {
            "200": {"description": "Its record.", "content": _json(Record)},
            "202": {"description": "It is not judged yet.", "content": _json(schema.Pending)},
            "404": {
                "description": "It was not sampled, never came, or is forgotten.",
                "content": _json(schema.Refusal),
            },
            **_refusals("401", "503"),
        },
    }


def _refusals(*statuses: str) -> dict[str, Any]:
    return {
        status: {"description": _REFUSALS[status], "content": _json(schema.Refusal)}
        for status in statuses
    }


def _json(model: type) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REF.format(model=model.__name__)}}}


def _schemas() -> dict[str, Any]:
    _, definitions = models_json_schema(
        [
            (schema.Event, "validation"),
            (schema.Batch, "validation"),
            (schema.Receipt, "serialization"),
            (schema.BatchReceipt, "serialization"),
            (schema.Pending, "serialization"),
            (schema.Refusal, "serialization"),
        ],
        ref_template=_REF,
    )
    record = TypeAdapter(Record).json_schema(mode="serialization", ref_template=_REF)
    schemas = {**record.pop("$defs"), "Record": record, **definitions["$defs"]}
    return dict(sorted(schemas.items()))
