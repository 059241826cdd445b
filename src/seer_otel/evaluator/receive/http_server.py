"""OTLP over HTTP, and what else is asked over HTTP."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import uvicorn
from google.protobuf import json_format
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from seer_otel.evaluator.intake import Intake, Signal
from seer_otel.evaluator.receive import json_bodies
from seer_otel.evaluator.receive.address import listen
from seer_otel.evaluator.receive.answers import Answer, Unauthenticated, Unsupported, answer
from seer_otel.evaluator.receive.bodies import apart, body_of, media_type
from seer_otel.evaluator.receive.doors import Doors
from seer_otel.evaluator.receive.front import Front, explained
from seer_otel.evaluator.receive.http_protocol import Bounds, Listener
from seer_otel.evaluator.telemetry.health import Health
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.semconv import FORWARD_HEADER

PROTOBUF = "application/x-protobuf"
JSON = "application/json"


class HttpServer:
    """The HTTP listener."""

    def __init__(
        self,
        address: str,
        intake: Intake,
        doors: Doors,
        health: Health,
        telemetry: Telemetry,
        more: Sequence[Route],
    ) -> None:
        self._address = address
        self._intake = intake
        self._doors = doors
        self._health = health
        self._telemetry = telemetry
        self._more = more
        self._server = Listener(
            uvicorn.Config(
                Front(self._app(), any_host=doors.any_host),
                log_config=None,
                access_log=False,
                lifespan="off",
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=5,
                ws="none",
            ),
            Bounds(doors.max_connections, refused=intake.refused),
            doors.certificates.for_http() if doors.certificates is not None else None,
        )
        self._serving: asyncio.Task[None] | None = None

    def _app(self) -> Starlette:
        routes = [
            Route(f"/v1/{signal}", self._export(signal), methods=["POST"])
            for signal in self._intake.signals
        ]
        return Starlette(
            routes=[
                *routes,
                *self._more,
                Route("/metrics", self._metrics, methods=["GET"]),
                Route("/healthz", self._healthz, methods=["GET"]),
                Route("/readyz", self._readyz, methods=["GET"]),
            ],
            exception_handlers={HTTPException: explained},
        )

    async def start(self) -> str:
        """
        Listen, and return the real address.

        Raises:
            ConfigError: The port is taken or the address is not this machine's.
        """
        listener = listen(self._address, "--http")
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        return f"{self._address.rpartition(':')[0]}:{listener.getsockname()[1]}"

    async def attend(self) -> None:
        """Return when it listens no longer."""
        if self._serving is not None:
            await asyncio.shield(self._serving)

    async def stop(self) -> None:
        """Refuse what is new, finish what is under way."""
        self._server.should_exit = True
        if self._serving is not None:
            await asyncio.wait({self._serving})

    def _export(self, signal: Signal) -> Callable[[Request], Awaitable[Response]]:
        async def export(request: Request) -> Response:
            form = media_type(request)
            rejected: list[str] = []
            try:
                self._doors.gate.check(request.headers.get("authorization"))
                if form not in (PROTOBUF, JSON):
                    raise Unsupported(f"content-type must be {PROTOBUF} or {JSON}")
                body = await body_of(request, self._doors.max_bytes)
                if form == JSON:
                    convert = partial(json_bodies.to_protobuf, signal, body, rejected.append)
                    body = await apart(len(body), convert)
                copies = request.headers.get(FORWARD_HEADER) == "no"
                response = await self._intake.take(signal, body, copies=copies)
            except ClientDisconnect:
                return Response(status_code=400)
            except Exception as error:
                refusal = answer(error)
                self._intake.refused(refusal.reason)
                return _refusal(refusal, form)
            if rejected:
                self._intake.rejected(len(rejected))
                response = json_bodies.less(rejected)
            if form == JSON:
                return Response(json_bodies.response_to_json(signal, response), media_type=JSON)
            return Response(response, media_type=PROTOBUF)

        return export

    async def _metrics(self, request: Request) -> Response:
        try:  # metadata values, models, ids of traces: what is counted says something, too
            self._doors.gate.check(request.headers.get("authorization"))
        except Unauthenticated as error:
            headers = {"www-authenticate": "Bearer"}
            return JSONResponse({"message": str(error)}, 401, headers)
        text, content_type = self._telemetry.exposition(request.headers.get("accept", ""))
        return Response(text, headers={"content-type": content_type})

    async def _healthz(self, _: Request) -> Response:
        return JSONResponse(self._health.life(), 200 if self._health.alive else 503)

    async def _readyz(self, _: Request) -> Response:
        return JSONResponse(self._health.report(), 200 if self._health.ready else 503)


def _refusal(refusal: Answer, form: str) -> Response:
    if refusal.http_status == 415:
        return JSONResponse({"message": refusal.message}, 415)
    headers = dict(refusal.headers)
    if refusal.http_status == 401:
        headers["www-authenticate"] = "Bearer"
    status = refusal.status
    if form == JSON:
        content = json.dumps(
            {
                "code": status.code,
                "message": status.message,
                "details": [json_format.MessageToDict(d) for d in status.details],
            }
        ).encode()
        return Response(content, refusal.http_status, headers, JSON)
    return Response(status.SerializeToString(), refusal.http_status, headers, PROTOBUF)
