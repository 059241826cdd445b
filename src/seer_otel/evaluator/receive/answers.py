"""
The table of answers: from what went wrong to a gRPC status and an HTTP response.

Clients drop data for almost every code but a few, so there are only five answers: taken; not now
(with the time to wait); never (cannot be decoded, is not what was wanted); too large; not allowed.
"""

import logging
import math
from dataclasses import dataclass

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2

from seer_otel.errors import Overloaded, Retryable, StorageFailed, TooLarge, Undecodable
from seer_otel.evaluator.receive.faults import Invalid

log = logging.getLogger(__name__)


class Unauthenticated(Exception):
    """Raised when a request carries no key, or not the right one."""


class Unsupported(Exception):
    """Raised when a request has a form that this service does not take; it says which it does."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One row of the table."""

    code: grpc.StatusCode
    http_status: int
    message: str
    reason: str
    """For the counter of refusals: low cardinality."""
    retry_after_s: float | None = None
    """Only where trying again makes sense."""

    @property
    def status(self) -> status_pb2.Status:
        """The `google.rpc.Status` that goes with it, details included."""
        status = status_pb2.Status(code=self.code.value[0], message=self.message)
        if self.retry_after_s is not None:
            status.details.append(_packed(self.retry_info))
        elif self.code is grpc.StatusCode.INVALID_ARGUMENT:
            violation = error_details_pb2.BadRequest.FieldViolation(
                field="body", description=self.message
            )
            status.details.append(
                _packed(error_details_pb2.BadRequest(field_violations=[violation]))
            )
        return status

    @property
    def retry_info(self) -> error_details_pb2.RetryInfo:
        """How long to wait."""
        milliseconds = round((self.retry_after_s or 0.0) * 1000)
        return error_details_pb2.RetryInfo(
            retry_delay=duration_pb2.Duration(
                seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000
            )
        )

    @property
    def trailers(self) -> tuple[tuple[str, bytes], ...]:
        """
        Return the trailing metadata of a gRPC answer.

        Go clients read the delay from the status details, the Python SDK from a trailer of its own.
        """
        details = ("grpc-status-details-bin", self.status.SerializeToString())
        if self.retry_after_s is None:
            return (details,)
        return details, ("google.rpc.retryinfo-bin", self.retry_info.SerializeToString())

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers: whole seconds, at least one (clients cut fractions off)."""
        if self.retry_after_s is None:
            return {}
        return {"retry-after": str(max(1, math.ceil(self.retry_after_s)))}


def answer(error: BaseException) -> Answer:
    """Look an error up in the table; what is not in it is ours, and temporary."""
    code = grpc.StatusCode
    match error:
        case Undecodable():
            return Answer(code.INVALID_ARGUMENT, 400, str(error), "undecodable")
        case Invalid():
            return Answer(code.INVALID_ARGUMENT, 422, str(error), "invalid")
        case TooLarge():
            return Answer(code.RESOURCE_EXHAUSTED, 413, str(error), "too_large")
        case Unauthenticated():
            return Answer(code.UNAUTHENTICATED, 401, str(error), "unauthenticated")
        case Unsupported():
            return Answer(code.INVALID_ARGUMENT, 415, str(error), "unsupported")
        case Overloaded():
            return Answer(code.UNAVAILABLE, 503, str(error), "overloaded", error.delay_s)
        case StorageFailed():
            return Answer(code.UNAVAILABLE, 503, str(error), "storage", error.delay_s)
        case Retryable():
            return Answer(code.UNAVAILABLE, 503, str(error), "next_hop", error.delay_s or 1.0)
        case _:
            log.error("unexpected %s; the client is asked to try again", type(error).__name__,
                      exc_info=error)  # fmt: skip
            return Answer(code.UNAVAILABLE, 503, "internal fault; try again", "fault", 1.0)


def _packed(message: error_details_pb2.RetryInfo | error_details_pb2.BadRequest) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed
