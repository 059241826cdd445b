"""OTLP/JSON bodies of the three signals, to protobuf and back."""

import base64
import json
from collections.abc import Sequence
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from seer_otel.dialects import otlp
from seer_otel.errors import Undecodable
from seer_otel.evaluator.intake import Signal

_REQUESTS: dict[Signal, type[Message]] = {
    "metrics": ExportMetricsServiceRequest,
    "logs": ExportLogsServiceRequest,
}
_REASON: Final = 300
"""Characters of a reason that are sent back."""

_RESPONSES: dict[Signal, type[Message]] = {
    "traces": ExportTraceServiceResponse,
    "metrics": ExportMetricsServiceResponse,
    "logs": ExportLogsServiceResponse,
}


def to_protobuf(signal: Signal, body: bytes, reject: otlp.Reject) -> bytes:
    """
    Return the protobuf form of a JSON request, less the spans that cannot be read.

    Args:
        signal: Whose request it is.
        body: The request.
        reject: Is told why a span cannot be read.

    Raises:
        Undecodable: It is no OTLP/JSON of this signal.
    """
    if signal == "traces":
        return otlp.parse_json(body, reject=reject).SerializeToString()
    try:
        tree = json.loads(body)
        _change_ids(tree)
        message = _REQUESTS[signal]()
        json_format.ParseDict(tree, message, ignore_unknown_fields=True)
    except (ValueError, TypeError, AttributeError, RecursionError, json_format.Error) as error:
        raise Undecodable(f"the body is no OTLP/JSON of {signal}: {error}"[:300]) from None
    return message.SerializeToString()


def less(rejected: Sequence[str]) -> bytes:
    """Return the response to a request of which some spans were rejected, for these reasons."""
    partial = ExportTracePartialSuccess(
        rejected_spans=len(rejected), error_message=rejected[0][:_REASON]
    )
    return ExportTraceServiceResponse(partial_success=partial).SerializeToString()


def response_to_json(signal: Signal, response: bytes) -> bytes:
    """Return the JSON form of a response message."""
    message = _RESPONSES[signal].FromString(response)
    return json_format.MessageToJson(message, indent=None).encode()


def _change_ids(tree: Any) -> None:
    """Turn hexadecimal ids, wherever they are, into what protobuf's JSON reads as bytes."""
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            for key, value in item.items():
                if key in ("traceId", "spanId") and isinstance(value, str):
                    item[key] = base64.b64encode(bytes.fromhex(value)).decode()
                else:
                    waiting.append(value)
