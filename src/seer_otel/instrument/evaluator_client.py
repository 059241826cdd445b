"""The way to the evaluator: one attempt, one answer."""

import http.client
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

ATTEMPT_S: Final = 10.0
"""Seconds that connecting, sending and each read may take."""

_RETRYABLE: Final = frozenset({408, 429, 502, 503, 504})
_LARGEST_ANSWER: Final = 16 * 1024 * 1024


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


@dataclass(frozen=True, slots=True)
class Reply:
    """What the evaluator said to a question."""

    status: int
    body: bytes
    retry_after_s: float

    @property
    def busy(self) -> bool:
        """Whether it may say something else later."""
        return self.status in _RETRYABLE


Rejections = Callable[[bytes], tuple[int, str]]
"""Reads how many items an answer rejects, and why."""


class EvaluatorClient:
    """
    The way to one evaluator.

    It speaks to the evaluator and to nobody else: no proxy, no redirect, and none of the
    `OTEL_EXPORTER_OTLP_*` settings, whose headers hold the keys of another service.

    Args:
        url: Where to post to; questions are asked below it.
        headers: Sent with everything.
        rejections: Reads the answer to a post that was taken.
        attempt_s: Seconds that connecting, sending and each read may take.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        rejections: Rejections = lambda body: (_rejected(body), ""),
        attempt_s: float = ATTEMPT_S,
    ) -> None:
        parts = urlsplit(url)
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._host = parts.hostname or ""
        self._port = parts.port
        self._path = parts.path
        self._headers = dict(headers)
        self._rejections = rejections
        self._attempt_s = attempt_s

    @property
    def address(self) -> str:
        """Host and port, for messages: a URL may hold a key."""
        return self._host if self._port is None else f"{self._host}:{self._port}"

    def post(self, body: bytes) -> Answer:
        """Send one request. Nothing is raised."""
        try:
            reply = self.ask("POST", "", body)
        except (OSError, http.client.HTTPException) as error:
            return Answer("busy", detail=type(error).__name__)
        except ValueError:  # A header that cannot be sent.
            return Answer("refused", detail="unusable header")
        detail = f"status {reply.status}"
        if 200 <= reply.status < 300:
            rejected, why = self._rejections(reply.body)
            return Answer("taken", rejected=rejected, detail=why or detail)
        if reply.busy:
            return Answer("busy", retry_after_s=reply.retry_after_s, detail=detail)
        return Answer("refused", detail=detail)

    def ask(
        self, method: str, below: str, body: bytes = b"", timeout_s: float | None = None
    ) -> Reply:
        """
        Make one request and return what is said, whatever that is.

        Raises:
            OSError, HTTPException: There is nobody, or nobody who speaks HTTP.
            ValueError: A header cannot be sent.
        """
        connection = self._connection(timeout_s or self._attempt_s)
        try:
            connection.request(method, self._path + below, body, self._headers)
            response = connection.getresponse()
            wait = response.headers.get("retry-after", "")
            return Reply(
                response.status,
                response.read(_LARGEST_ANSWER),
                float(wait) if wait.isdecimal() else 0.0,
            )
        finally:
            connection.close()

    def _connection(self, timeout_s: float) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=timeout_s, context=self._tls
        )


def _rejected(body: bytes) -> int:
    try:
        return ExportTraceServiceResponse.FromString(body).partial_success.rejected_spans
    except DecodeError:  # Whatever it says, it was a success.
        return 0
