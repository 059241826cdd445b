"""What every HTTP request must say, and every HTTP answer carries, whatever is asked."""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seer_otel.evaluator.receive.gate import names_this_machine

HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
"""On every answer that does not say otherwise itself."""


class Front:
    """
    Stands before an application.

    Args:
        app: The application.
        any_host: Whether requests may name any host. Without keys, only a name of this machine
            will do: else a web page could use a browser on it to read what is kept here.
    """

    def __init__(self, app: ASGIApp, *, any_host: bool) -> None:
        self._app = app
        self._any_host = any_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        app = self._app
        if scope["type"] == "http" and not self._any_host:
            host = Headers(scope=scope).get("host")
            if host is not None and not names_this_machine(host):
                app = _ANOTHER_HOST
        await app(scope, receive, send_guarded)


_ANOTHER_HOST: Final = JSONResponse(
    {"message": "without a key this evaluator answers to localhost alone: set SEER_API_KEY for it"},
    403,
)


async def explained(_: Request, error: Exception) -> JSONResponse:
    """Answer in JSON for what the router refuses: no such path, no such method."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"message": error.detail}, error.status_code, error.headers)
