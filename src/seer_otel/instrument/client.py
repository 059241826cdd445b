"""Retrieval events straight to the evaluator, for applications that record no spans of them."""

import asyncio
import atexit
import http.client
import inspect
import json
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self, Unpack
from urllib.parse import quote

from seer_otel.dialects import record_ids
from seer_otel.errors import EvaluatorBusy, EvaluatorRefused
from seer_otel.instrument import settings, shipping
from seer_otel.instrument.evaluator_client import EvaluatorClient, Reply
from seer_otel.instrument.event import EventFields, encoded, is_wanted
from seer_otel.instrument.notices import warn_once
from seer_otel.instrument.records import read_record
from seer_otel.instrument.shipping import Counts, Shipping
from seer_otel.verdict import Record

FLUSH_S: Final = 30.0
EVALUATE_S: Final = 120.0
"""How long a verdict is waited for."""
_ASK_AGAIN_S: Final = 1.0
"""Between attempts at a busy evaluator that does not say when to come back."""
_SIGNATURE: Final = inspect.signature(encoded)


class _Events(Shipping[bytes]):
    """Ships events, each in JSON."""

    kind = "events"

    def _encoded(self, items: Iterable[bytes]) -> Iterator[bytes]:
        return iter(items)

    def _body(self, encoded: Sequence[bytes]) -> bytes:
        return b'{"events":[' + b",".join(encoded) + b"]}"


class _Client:
    """What both clients have in common."""

    def __init__(
        self,
        endpoint: str | None = None,
        api_key: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        told = settings.settle(
            endpoint=endpoint, sample_rate=1, send=True, api_key=api_key, headers=headers, tools=()
        )
        all_headers = {**told.headers, "content-type": "application/json"}
        self._sends = told.send
        self._evaluator = EvaluatorClient(told.endpoint, all_headers)
        batches = EvaluatorClient(f"{told.endpoint}/v1/log/batch", all_headers, _rejections)
        self._events = _Events(batches.post)
        shut_down = weakref.WeakMethod(self._events.shut_down)
        atexit.register(lambda: (method := shut_down()) and method())

    @property
    def counts(self) -> Counts:
        """What became of the events that were logged in this process."""
        return self._events.counts

    def log(self, **fields: Unpack[EventFields]) -> str:
        """
        Send an event in the background; return its record id at once.

            client.log(task=question, context=passages)

        Inside a `request()`, its task and its decision hold; where that is not to judge, nothing
        is sent. Nothing is raised for what goes wrong on the way, or in the context: what is not
        sent is counted in `counts`, and costs a line in the log.

        Args:
            **fields: See `EventFields`: context, task, subquery, is_final_context, metadata,
                ground_truth, conversation_id, expected_outcome, use_otel_trace, trace_id, span_id,
                parent_span_id, span_name, created_at, sample_rate, record_id.
        """
        _SIGNATURE.bind(**fields)  # A wrong call is the program's own error, and is raised.
        record_id = fields["record_id"] = fields.get("record_id") or record_ids.new()
        if not is_wanted(fields.get("sample_rate")):
            return record_id
        try:
            body = encoded(**fields) if self._sends else None
        except Exception as error:  # A document object runs code of its own when it is asked.
            warn_once("An event could not be encoded: %s", type(error).__name__)
            body = None
        if body is None:
            self._events.lose()
        else:
            self._events.put(body)
        return record_id

    def _evaluate(self, body: bytes, timeout_s: float) -> Record:
        until = time.monotonic() + timeout_s
        while True:
            remaining_s = max(0.001, until - time.monotonic())
            reply = self._ask("POST", "/v1/evaluate", body, remaining_s)
            pause_s = reply.retry_after_s or _ASK_AGAIN_S
            if not reply.busy or pause_s >= remaining_s:
                return _record(reply)
            time.sleep(pause_s)

    def _look_up(self, record_id: str) -> Record | None:
        reply = self._ask("GET", f"/v1/records/{quote(record_id, safe='')}")
        return None if reply.status == 404 else _record(reply)

    def _ask(
        self, method: str, path: str, body: bytes = b"", timeout_s: float | None = None
    ) -> Reply:
        if not self._sends:
            raise EvaluatorRefused(f"{settings.ENDPOINT} is no http(s) URL")
        try:
            return self._evaluator.ask(method, path, body, timeout_s)
        except (OSError, http.client.HTTPException) as error:
            what = f"the evaluator at {self._evaluator.address} does not answer"
            raise EvaluatorBusy(f"{what} ({type(error).__name__})") from error
        except ValueError:
            raise EvaluatorRefused("a header of the client cannot be sent") from None


class SeerClient(_Client):
    """
    Logs retrieval events to an evaluator, and asks it for verdicts.

        client = SeerClient("http://evaluator:24318")
        client.log(task=question, context=index.search(question))

    It sends in the background, in batches, and never stops or slows the application. Safe from
    any thread, and in forked workers. `close()` it, or leave its `with`; at the end of the process
    it is closed by itself.

    Args:
        endpoint: Base URL of the evaluator; else `SEER_ENDPOINT`, else `http://127.0.0.1:4318`.
        api_key: Sent as `authorization: Bearer …`; else `SEER_API_KEY`.
        headers: More headers.

    Raises:
        ConfigError: An argument cannot be used. A wrong variable is only logged.
    """

    def evaluate(self, *, timeout_s: float = EVALUATE_S, **fields: Unpack[EventFields]) -> Record:
        """
        Have an event judged, whatever the sample rate, and wait for the verdict.

            record = client.evaluate(task="Who directed Inception?", context=passages)
            assert record.verdict.of("task").scores.recall == 1

        Args:
            timeout_s: Seconds to wait, for an evaluator that is busy too.
            **fields: As for `log`.

        Raises:
            EvaluatorBusy: It could not be reached, or had no time.
            EvaluatorRefused: It does not take the event; the message says why.
        """
        return self._evaluate(encoded(**fields), timeout_s)

    def record(self, record_id: str) -> Record | None:
        """
        Look up what became of an event; None where there is no record of it.

        Raises:
            EvaluatorBusy, EvaluatorRefused: As for `evaluate`.
        """
        return self._look_up(record_id)

    def flush(self, timeout_s: float = FLUSH_S) -> bool:
        """Send what waits. Returns whether all of it left within the time."""
        return self._events.flush(timeout_s)

    def close(self, timeout_s: float = shipping.SHUTDOWN_S) -> None:
        """Send what waits, as far as it goes in the time; drop and count the rest."""
        self._events.shut_down(timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace_back: TracebackType | None,
    ) -> None:
        self.close()


class AsyncSeerClient(_Client):
    """
    `SeerClient` for asyncio.

        async with AsyncSeerClient("http://evaluator:24318") as client:
            client.log(task=question, context=await index.search(question))

    `log` does not wait for anything, and is the same; what waits is awaited.
    """

    async def evaluate(
        self, *, timeout_s: float = EVALUATE_S, **fields: Unpack[EventFields]
    ) -> Record:
        """Have an event judged; see `SeerClient.evaluate`."""
        return await asyncio.to_thread(self._evaluate, encoded(**fields), timeout_s)

    async def record(self, record_id: str) -> Record | None:
        """Look up what became of an event; see `SeerClient.record`."""
        return await asyncio.to_thread(self._look_up, record_id)

    async def flush(self, timeout_s: float = FLUSH_S) -> bool:
        """Send what waits. Returns whether all of it left within the time."""
        return await asyncio.to_thread(self._events.flush, timeout_s)

    async def close(self, timeout_s: float = shipping.SHUTDOWN_S) -> None:
        """Send what waits, as far as it goes in the time; drop and count the rest."""
        await asyncio.to_thread(self._events.shut_down, timeout_s)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace_back: TracebackType | None,
    ) -> None:
        await self.close()


def _record(reply: Reply) -> Record:
    if reply.busy:
        raise EvaluatorBusy(_message(reply), reply.retry_after_s or _ASK_AGAIN_S)
    if not 200 <= reply.status < 300:
        raise EvaluatorRefused(_message(reply))
    try:
        return read_record(reply.body)
    except ValueError:
        raise EvaluatorRefused("what answered is no evaluator, or one of another release") from None


def _message(reply: Reply) -> str:
    said = _json(reply.body).get("message")
    return f"the evaluator answered {reply.status}" + (f": {said}" if said else "")


def _rejections(body: bytes) -> tuple[int, str]:
    """Count the events of a batch that were not accepted, and say what is wrong with the first."""
    results = _json(body).get("results")
    rejected = [
        result
        for result in (results if isinstance(results, list) else ())
        if isinstance(result, dict) and result.get("accepted") is False
    ]
    if not rejected:
        return 0, ""
    faults = rejected[0].get("errors")
    first = faults[0] if isinstance(faults, list) and faults else None
    if not isinstance(first, dict):
        return len(rejected), ""
    return len(rejected), ": ".join(str(first[k]) for k in ("field", "message") if first.get(k))


def _json(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
