"""
One HTTP connection, bounded: how many there are, how large a head is, how long a request takes.

uvicorn bounds none of these. A client that sends a byte a second, or headers without end, would
keep a place, or memory, for ever.
"""

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

HEAD_BYTES: Final = 32 * 1024
"""Request line and headers, and what comes after a body in chunks."""
HEADERS: Final = 100
HEAD_S: Final = 10.0
"""Seconds from the connection, or the first byte, to the end of the head; TLS has as long."""
BODY_S: Final = 60.0
"""Seconds for a body: 64 MiB at 9 Mbit/s."""

_JSON_HEADERS: Final = (
    b"content-type: application/json\r\nx-content-type-options: nosniff\r\n"
    b"cache-control: no-store\r\nconnection: close\r\n"
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one listener bears."""

    connections: int
    head_bytes: int = HEAD_BYTES
    headers: int = HEADERS
    head_s: float = HEAD_S
    body_s: float = BODY_S
    refused: Callable[[str], None] = lambda _: None
    """Is told of each connection that is given up, and why."""


class _TooMuch(Exception):
    """Raised inside the parser, to end it."""


class BoundedProtocol(HttpToolsProtocol):
    """A connection that ends where the bounds are reached."""

    def __init__(self, bounds: Bounds, **told: Any) -> None:
        super().__init__(**told)
        self._bounds = bounds
        self._timer: asyncio.TimerHandle | None = None
        self._in_head = True
        self._head_bytes = 0
        self._headers_bytes = 0
        self._too_much = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, unless there are too many: then the client is to come again."""
        super().connection_made(transport)
        if len(self.connections) > self._bounds.connections:
            self._give_up("connections")
        else:
            self._within(self._bounds.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, and count what belongs to a head that has no end yet."""
        idle = self.cycle is None or self.cycle.response_complete
        if self._timer is None and idle:  # for uvicorn stops its own at any byte, even at a blank
            self._within(self._bounds.head_s)
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > self._bounds.head_bytes:
                self._too_much = True
                self.send_400_response("")

    def on_message_begin(self) -> None:
        """Begin to count: the head of a request."""
        super().on_message_begin()
        self._in_head, self._head_bytes, self._headers_bytes = True, 0, 0
        self._within(self._bounds.head_s)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or what looks like one after a body in chunks."""
        super().on_header(name, value)
        self._headers_bytes += len(name) + len(value)
        is_large = self._headers_bytes + len(self.url) > self._bounds.head_bytes
        if is_large or len(self.headers) > self._bounds.headers:
            self._too_much = True
            raise _TooMuch

    def on_headers_complete(self) -> None:
        """Begin to wait for the body."""
        self._in_head = False
        self._within(self._bounds.body_s)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Have the whole of a request."""
        self._stop()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Say what is wrong with a request that no application sees, and end the connection."""
        status, message = 400, "this is no HTTP request"
        if self._too_much:
            status, message = 431, "the head of the request is too large"
        self._bounds.refused("head")
        content = json.dumps({"message": message}).encode()
        length = b"content-length: %d\r\n\r\n" % len(content)
        self.transport.write(STATUS_LINE[status] + _JSON_HEADERS + length + content)
        self.transport.close()

    def _within(self, seconds: float) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, self._give_up, "slow")

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self, reason: str) -> None:
        self._bounds.refused(reason)
        self.transport.abort()


class Listener(uvicorn.Server):
    """
    The server of such connections.

    Args:
        config: How uvicorn serves.
        bounds: Of each connection, and of their number.
        tls: Where the connections are encrypted.
    """

    def __init__(
        self, config: uvicorn.Config, bounds: Bounds, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(config)
        self._bounds = bounds
        self._tls = tls

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: they are the service's own business."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; uvicorn's own way would bound neither connections nor handshakes."""
        await self.lifespan.startup()
        loop = asyncio.get_running_loop()
        self.servers = [
            await loop.create_server(
                self._connection,
                sock=listener,
                ssl=self._tls,
                ssl_handshake_timeout=self._bounds.head_s if self._tls is not None else None,
                backlog=self.config.backlog,
            )
            for listener in sockets or []
        ]
        self.started = True

    def _connection(self) -> BoundedProtocol:
        return BoundedProtocol(
            self._bounds,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
