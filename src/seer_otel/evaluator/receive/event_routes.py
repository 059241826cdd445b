"""Retrieval events over HTTP: log, evaluate, look up."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from seer_otel.clock import Clock
from seer_otel.dialects import Reader
from seer_otel.dialects.values import identifier, parse_json
from seer_otel.errors import Undecodable
from seer_otel.evaluator.event_span import Logged, logged
from seer_otel.evaluator.events import Events, Receipt
from seer_otel.evaluator.receive import openapi, schema
from seer_otel.evaluator.receive.answers import Unsupported, answer
from seer_otel.evaluator.receive.bodies import apart, body_of, media_type
from seer_otel.evaluator.receive.faults import Invalid
from seer_otel.evaluator.receive.gate import Gate

JSON = "application/json"

T = TypeVar("T")

Handler = Callable[[Request], Awaitable[Response]]


class EventRoutes:
    """The part of the HTTP listener that takes events."""

    def __init__(
        self,
        events: Events,
        gate: Gate,
        clock: Clock,
        reader: Reader,
        refused: Callable[[str], None],
        max_bytes: int,
    ) -> None:
        self._events = events
        self._gate = gate
        self._clock = clock
        self._reader = reader
        self._refused = refused
        self._max_bytes = max_bytes

    def routes(self) -> list[Route]:
        """Return what is served."""
        return [
            Route("/v1/log", self._guarded(self._log), methods=["POST"]),
            Route("/v1/log/batch", self._guarded(self._log_batch), methods=["POST"]),
            Route("/v1/evaluate", self._guarded(self._evaluate), methods=["POST"]),
            Route("/v1/records/{record_id}", self._guarded(self._record), methods=["GET"]),
            Route("/openapi.json", self._openapi, methods=["GET"]),
        ]

    def _guarded(self, handle: Handler) -> Handler:
        """Wrap a handler: let in who may come in, and answer for what goes wrong."""

        async def guarded(request: Request) -> Response:
            try:
                self._gate.check(request.headers.get("authorization"))
                return await handle(request)
            except ClientDisconnect:
                return Response(status_code=400)
            except Exception as error:
                return self._refusal(error)

        return guarded

    def _refusal(self, error: Exception) -> Response:
        refusal = answer(error)
        self._refused(refusal.reason)
        headers = dict(refusal.headers)
        if refusal.http_status == 401:
            headers["www-authenticate"] = "Bearer"
        faults = list(error.faults) if isinstance(error, Invalid) else None
        content = schema.Refusal(message=refusal.message, errors=faults)
        return _json(content, refusal.http_status, headers)

    async def _log(self, request: Request) -> Response:
        event = await self._read(request, self._event)
        (receipt,) = await self._events.log([event])
        return _json(_taken(receipt))

    async def _log_batch(self, request: Request) -> Response:
        events = await self._read(request, self._batch)
        taken = [event for event in events if isinstance(event, Logged)]
        receipts = iter(await self._events.log(taken))
        for _ in range(len(events) - len(taken)):
            self._refused("invalid")
        results = [_taken(next(receipts)) if isinstance(e, Logged) else e for e in events]
        return _json(schema.BatchReceipt(results=results))

    async def _evaluate(self, request: Request) -> Response:
        event = await self._read(request, self._event)
        return Response(await self._events.evaluate(event), media_type=JSON)

    async def _record(self, request: Request) -> Response:
        record_id = request.path_params["record_id"]
        record = await self._events.record(record_id)
        if record is None:
            message = "no such record: it was not sampled, never came, or is forgotten"
            return _json(schema.Refusal(message=message), 404)
        if record == "pending":
            return _json(schema.Pending(record_id=record_id), 202)
        return Response(record, media_type=JSON)

    async def _openapi(self, _: Request) -> Response:
        return JSONResponse(openapi.page())

    async def _read(self, request: Request, convert: Callable[[Any], T]) -> T:
        """
        Read a body as JSON and convert it.

        Raises:
            Undecodable: It is no JSON.
            Invalid: It is not what the handler wants.
        """
        if media_type(request) != JSON:
            raise Unsupported(f"content-type must be {JSON}")
        body = await body_of(request, self._max_bytes)

        def read() -> T:
            try:
                parsed = parse_json(body.decode("utf-8-sig"))
            except ValueError as error:
                raise Undecodable(f"the body is no JSON: {error}"[:300]) from None
            try:
                return convert(parsed)
            except RecursionError:
                raise Undecodable("the body is nested too deeply") from None

        return await apart(len(body), read)

    def _event(self, body: object) -> Logged:
        return logged(schema.event_of(body), self._clock.now(), self._reader)

    def _batch(self, body: object) -> list[Logged | schema.Receipt]:
        return [self._one_of_batch(event) for event in schema.events_of(body)]

    def _one_of_batch(self, event: object) -> Logged | schema.Receipt:
        try:
            return self._event(event)
        except Invalid as invalid:
            said = event.get("record_id") if isinstance(event, dict) else None
            return schema.Receipt(
                record_id=identifier(said),
                accepted=False,
                sampled=False,
                errors=list(invalid.faults),
            )


def _taken(receipt: Receipt) -> schema.Receipt:
    return schema.Receipt(record_id=receipt.record_id, accepted=True, sampled=receipt.sampled)


def _json(content: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(content.model_dump_json(exclude_none=True), status, headers, JSON)
