"""
Every error that crosses a room; its class says what the caller should do.

    SeerError
    ├── ConfigError            mend the configuration: start-up stops, exit 2
    ├── Retryable              try again after delay_s
    │   ├── Overloaded         the hold or the memory is over its mark
    │   ├── StorageFailed      the disk refused a write
    │   ├── NextHopBusy        the next hop asked to wait, or could not be reached
    │   └── EvaluatorBusy      the evaluator did (seen from an application)
    ├── Permanent              trying again is no use
    │   ├── Undecodable        the bytes are not what they claim to be
    │   ├── TooLarge           over a limit
    │   ├── NextHopRefused     the next hop will never take it
    │   └── EvaluatorRefused   the evaluator will never take it (seen from an application)
    └── JudgeError             never leaves judging: becomes an evaluation without scores
        ├── JudgeFailed        no reply, or an error reply
        ├── JudgeParse         a reply that could not be read as a verdict
        ├── JudgeTimeout       no reply in time
        ├── JudgeRefused       the judge, or its filter, declined; or the key was refused
        └── BudgetSpent        the judge may not be asked: the retrieval is skipped, not failed
"""

from typing import ClassVar


class SeerError(Exception):
    """Base of all errors of this package."""


class ConfigError(SeerError):
    """Raised when a setting cannot be used; the message says which one and what would do."""


class Retryable(SeerError):
    """Raised when the same request may succeed later."""

    def __init__(self, message: str, delay_s: float = 1.0) -> None:
        super().__init__(message)
        self.delay_s = delay_s
        """Seconds the caller should wait at least."""


class Overloaded(Retryable):
    """Raised when the hold, the queue or the memory is over its mark."""


class StorageFailed(Retryable):
    """Raised when the disk refused a write."""


class NextHopBusy(Retryable):
    """Raised when the next hop asked to wait, or could not be reached."""


class EvaluatorBusy(Retryable):
    """Raised in an application when the evaluator asked to wait, or could not be reached."""


class Permanent(SeerError):
    """Raised when the same request can never succeed."""


class Undecodable(Permanent):
    """Raised when bytes are not what they claim to be."""


class TooLarge(Permanent):
    """Raised when something is over a limit."""

    def __init__(self, what: str, size: int, limit: int) -> None:
        super().__init__(f"{what} has {size} bytes; the limit is {limit}")
        self.size = size
        self.limit = limit


class NextHopRefused(Permanent):
    """Raised when the next hop will never take a request."""


class EvaluatorRefused(Permanent):
    """Raised in an application when the evaluator will never take a request; it says why."""


class JudgeError(SeerError):
    """Base of what can go wrong with a judge. `reason` is what the span says of it."""

    reason: ClassVar[str] = "judge_failed"

    def __init__(self, message: str, error_type: str | None = None) -> None:
        super().__init__(message)
        self.error_type = error_type or self.reason
        """Value of `error.type`: low cardinality, more precise than `reason` where known."""


class JudgeFailed(JudgeError):
    """Raised when the judge gave no reply, or an error."""


class JudgeParse(JudgeError):
    """Raised when the judge's reply could not be read as a verdict."""

    reason = "judge_parse"


class JudgeTimeout(JudgeError):
    """Raised when the judge did not reply in time."""

    reason = "judge_timeout"


class JudgeRefused(JudgeError):
    """Raised when the judge, its content filter or its gate declined to answer."""

    reason = "judge_refused"


class BudgetSpent(JudgeError):
    """Raised when the judge may not be asked for now: a retrieval that needs it is skipped."""

    reason = "budget"
