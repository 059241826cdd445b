"""
Ships spans, and events, to the evaluator in the background: bounded, best effort, never in the way.

The SDK's `BatchSpanProcessor` and OTLP exporter are not used: their flush has no time-out, they do
not say what they dropped, log every failed attempt, batch by number although these spans are large,
and send the headers of `OTEL_EXPORTER_OTLP_HEADERS`, which are another service's keys.
"""

import contextlib
import logging
import math
import os
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, TypeVar

from opentelemetry import context
from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan

from seer_otel.instrument.evaluator_client import Answer
from seer_otel.instrument.notices import warn_once

QUEUE: Final = 1_024
"""Items that wait at most; the oldest falls out."""
BATCH: Final = 64
"""Items that are taken from the queue at once."""
REQUEST_BYTES: Final = 4 * 1024 * 1024
"""A request is no larger, unless one item is."""
LINGER_S: Final = 1.0
"""How long an item waits for company."""
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 10.0
"""Between attempts at an evaluator that is away; doubled from the first to the longest."""
SHUTDOWN_S: Final = 5.0
"""How long shutting down may take."""
QUIET_S: Final = 600.0
"""The same complaint is not logged again sooner."""

_logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the items of this process: entered = shipped + dropped + waiting."""

    entered: int
    shipped: int
    """The evaluator has them."""
    dropped: int
    """The evaluator will never have them: the queue was full, it refused, or the process ended."""
    waiting: int


class Shipping(ABC, Generic[T]):
    """
    A bounded queue and the thread that empties it.

    The thread starts with the first item, in the process that has it: before a fork there is
    usually none, and a forked child starts its own with an empty queue.

    Args:
        post: Makes one attempt at the evaluator.
        queue: Items that wait at most.
        linger_s: How long an item waits for company.
        first_pause_s: Between attempts, doubled each time.
    """

    kind: ClassVar[str]
    """What the items are, for the log."""

    def __init__(
        self,
        post: Callable[[bytes], Answer],
        *,
        queue: int = QUEUE,
        linger_s: float = LINGER_S,
        first_pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        self._post = post
        self._limit = queue
        self._linger_s = linger_s
        self._first_pause_s = first_pause_s
        self._stopping = False
        self._start_afresh()
        if hasattr(os, "register_at_fork"):
            afresh = weakref.WeakMethod(self._start_afresh)
            os.register_at_fork(after_in_child=lambda: (method := afresh()) and method())

    @property
    def counts(self) -> Counts:
        """What became of the items so far."""
        with self._changed:
            waiting = self._entered - self._shipped - self._dropped
            return Counts(self._entered, self._shipped, self._dropped, waiting)

    @abstractmethod
    def _encoded(self, items: Iterable[T]) -> Iterator[bytes]:
        """Encode items; one that cannot be encoded is left out."""

    @abstractmethod
    def _body(self, encoded: Sequence[bytes]) -> bytes:
        """Put encoded items together to one request."""

    def put(self, item: T) -> None:
        """Take one item to be shipped. Returns at once, whatever the evaluator does."""
        with self._changed:
            self._entered += 1
            if self._stopping:
                self._dropped += 1
                return
            self._start_thread()
            self._queue.append((self._entered, item))
            full = len(self._queue) > self._limit
            if full:
                self._queue.popleft()
                self._dropped += 1
            self._changed.notify_all()
        if full:
            self._complain(
                "%d %s wait to be shipped: the oldest are dropped", self._limit, self.kind
            )

    def lose(self) -> None:
        """Count an item that cannot be shipped, whoever takes it."""
        with self._changed:
            self._entered += 1
            self._dropped += 1

    def flush(self, timeout_s: float) -> bool:
        """
        Ship what waits. Returns whether all of it left the queue within the time.

        An evaluator that is away costs one attempt, not the time-out.
        """
        with self._changed:
            last, failures = self._entered, self._failures
            if self._thread is None:
                return self._settled(last)
            self._hurried_to = last
            self._flushes += 1
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._settled(last) or self._failures > failures, timeout_s
            )
            return self._settled(last)

    def shut_down(self, timeout_s: float = SHUTDOWN_S) -> None:
        """Ship what waits, as far as it goes in the time; drop and count the rest."""
        with self._changed:
            if self._stopping:
                return
            self._stopping = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
        else:
            self._work()  # with what came when no thread could be started any more
        self._give_up()

    def _settled(self, number: int) -> bool:
        """Whether the item with this number, and all before it, have left the queue for good."""
        oldest = self._in_hand or (self._queue[0][0] if self._queue else 0)
        return not oldest or oldest > number

    def _start_afresh(self) -> None:
        """
        Begin with nothing.

        In a forked child the lock may be held by a thread that is not there. It can be entered
        twice by one thread, for the garbage collector may end a span while the lock is held.
        """
        self._changed = threading.Condition(threading.RLock())
        self._queue: deque[tuple[int, T]] = deque()
        self._in_hand = 0  # Number of the first item that is being delivered; 0: none is.
        self._hurried_to = 0  # Number of the last item that a flush waits for.
        self._entered: int = 0
        self._shipped: int = 0
        self._dropped: int = 0
        self._failures: int = 0
        self._flushes: int = 0
        self._given_up = False
        self._complaints: dict[str, float] = {}
        self._thread: threading.Thread | None = None

    def _start_thread(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="seer-shipping", daemon=True)
            # From 3.12 on none can be started while the interpreter is on its way out.
            with contextlib.suppress(RuntimeError):
                thread.start()
                self._thread = thread

    def _work(self) -> None:
        token = context.attach(context.set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        try:
            while batch := self._next_batch():
                encoded = list(self._encoded(batch))
                self._settle(dropped=len(batch) - len(encoded))
                for request in _requests(encoded):
                    self._deliver(self._body(request), len(request))
                with self._changed:
                    self._in_hand = 0
                    self._changed.notify_all()
        finally:
            context.detach(token)

    def _next_batch(self) -> Sequence[T]:
        """Wait for items, and a little for their company. Empty: stopping, and nothing is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopping)
            self._changed.wait_for(self._is_time, self._linger_s)
            batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
            self._in_hand = batch[0][0] if batch else 0
            return [item for _, item in batch]

    def _is_time(self) -> bool:
        waiting = self._queue
        hurried = bool(waiting) and waiting[0][0] <= self._hurried_to
        return hurried or len(waiting) >= BATCH or self._stopping

    def _deliver(self, body: bytes, items: int) -> None:
        """Try until the evaluator has answered for good, or there is no more time."""
        pause_s = self._first_pause_s
        while not self._given_up:
            answer = self._attempt(body)
            if answer.state != "busy":
                self._settle_answered(answer, items)
                return
            self._complain("The evaluator takes no %s for now: %s", self.kind, answer.detail)
            if self._stopping:
                self._give_up()
                return
            self._pause(max(pause_s, min(answer.retry_after_s, LONGEST_PAUSE_S)))
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _attempt(self, body: bytes) -> Answer:
        try:
            return self._post(body)
        except Exception as error:  # Else the thread ends, and with it all shipping.
            return Answer("refused", detail=type(error).__name__)

    def _settle_answered(self, answer: Answer, items: int) -> None:
        if answer.state == "refused":
            self._complain("The evaluator refuses %s: %s", self.kind, answer.detail)
            self._settle(dropped=items)
            return
        rejected = min(answer.rejected, items)
        if rejected:
            self._complain(
                "The evaluator rejects %d of %d %s: %s", rejected, items, self.kind, answer.detail
            )
        self._settle(shipped=items - rejected, dropped=rejected)

    def _pause(self, pause_s: float) -> None:
        """Wait before the next attempt; a flush cuts it short, an end makes it the last."""
        with self._changed:
            self._failures += 1
            self._changed.notify_all()
            flushes = self._flushes
            self._changed.wait_for(lambda: self._stopping or self._flushes > flushes, pause_s)

    def _settle(self, *, shipped: int = 0, dropped: int = 0) -> None:
        with self._changed:
            if not self._given_up:
                self._shipped += shipped
                self._dropped += dropped

    def _give_up(self) -> None:
        with self._changed:
            unsent = 0 if self._given_up else self._entered - self._shipped - self._dropped
            self._dropped += unsent
            self._given_up = True
            self._in_hand = 0
            self._queue.clear()
            self._changed.notify_all()
        if unsent:
            _logger.warning("%d %s could not be shipped before the end", unsent, self.kind)

    def _complain(self, message: str, *arguments: object) -> None:
        """
        Log a warning, unless the same was logged lately.

        Never under the lock: a log handler may itself end spans, or wait for a lock of its own.
        """
        now = time.monotonic()
        if now - self._complaints.get(message, -math.inf) >= QUIET_S:
            self._complaints[message] = now
            _logger.warning(message, *arguments)


class Shipper(Shipping[ReadableSpan]):
    """Ships spans; `complete` is done with each before it is encoded, in the thread."""

    kind = "spans"

    def __init__(
        self,
        post: Callable[[bytes], Answer],
        *,
        queue: int = QUEUE,
        linger_s: float = LINGER_S,
        first_pause_s: float = FIRST_PAUSE_S,
        complete: Callable[[ReadableSpan], ReadableSpan] | None = None,
    ) -> None:
        super().__init__(post, queue=queue, linger_s=linger_s, first_pause_s=first_pause_s)
        self._complete = complete

    def _encoded(self, items: Iterable[ReadableSpan]) -> Iterator[bytes]:
        """Encode each span as a request of its own; requests put end to end are one request."""
        for span in items:
            try:
                whole = span if self._complete is None else self._complete(span)
                yield encode_spans([whole]).SerializeToString()
            except Exception as error:  # Whatever a foreign span holds, its neighbours go on.
                warn_once("A span could not be encoded: %s", type(error).__name__)

    def _body(self, encoded: Sequence[bytes]) -> bytes:
        return b"".join(encoded)


def _requests(encoded: Iterable[bytes]) -> Iterator[list[bytes]]:
    request: list[bytes] = []
    size = 0
    for item in encoded:
        if request and size + len(item) > REQUEST_BYTES:
            yield request
            request, size = [], 0
        request.append(item)
        size += len(item)
    if request:
        yield request
