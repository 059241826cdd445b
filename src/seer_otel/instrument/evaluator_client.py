"""Posts encoded spans to the evaluator: one attempt, one answer, nothing raised."""

import http.client
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

ATTEMPT_S: Final = 10.0
"""Seconds that connecting, sending and each read may take."""

_RETRYABLE: Final = frozenset({408, 429, 502, 503, 504})
_LARGEST_ANSWER: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one attempt."""

    state: Literal["taken", "refused", "busy"]
    """`busy`: it may be taken later, the evaluator being away included."""
    rejected: int = 0
    """Spans that were not taken although the others were."""
    retry_after_s: float = 0.0
    detail: str = ""
    """Status or kind of error, for the log."""


class EvaluatorClient:
    """
    The way to one evaluator.

    It speaks to the evaluator and to nobody else: no proxy, no redirect, and none of the
    `OTEL_EXPORTER_OTLP_*` settings, whose headers hold the keys of another service.
    """

    def __init__(
        self, traces_url: str, headers: Mapping[str, str], attempt_s: float = ATTEMPT_S
    ) -> None:
        parts = urlsplit(traces_url)
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._host = parts.hostname or ""
        self._port = parts.port
        self._path = parts.path
        self._headers = dict(headers)
        self._attempt_s = attempt_s

    def post(self, body: bytes) -> Answer:
        """Send one `ExportTraceServiceRequest`."""
        try:
            connection = self._connection()
            try:
                connection.request("POST", self._path, body, self._headers)
                response = connection.getresponse()
                return _answer(response, response.read(_LARGEST_ANSWER))
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as error:
            return Answer("busy", detail=type(error).__name__)
        except ValueError:  # A header that cannot be sent.
            return Answer("refused", detail="unusable header")

    def _connection(self) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._attempt_s)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=self._attempt_s, context=self._tls
        )


def _answer(response: http.client.HTTPResponse, body: bytes) -> Answer:
    detail = f"status {response.status}"
    if 200 <= response.status < 300:
        return Answer("taken", rejected=_rejected(body), detail=detail)
    if response.status in _RETRYABLE:
        wait = response.headers.get("retry-after", "")
        return Answer("busy", retry_after_s=float(wait) if wait.isdecimal() else 0, detail=detail)
    return Answer("refused", detail=detail)


def _rejected(body: bytes) -> int:
    try:
        return ExportTraceServiceResponse.FromString(body).partial_success.rejected_spans
    except DecodeError:  # Whatever it says, it was a success.
        return 0
