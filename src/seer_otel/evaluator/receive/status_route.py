"""The page that says what the service is doing."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from seer_otel.evaluator.receive.answers import Unauthenticated
from seer_otel.evaluator.receive.gate import Gate
from seer_otel.evaluator.telemetry.status import Status


def status_route(status: Status, gate: Gate) -> Route:
    """Return what is served: for those who hold a key, where keys are asked for."""

    async def page(request: Request) -> Response:
        try:
            gate.check(request.headers.get("authorization"))
        except Unauthenticated as error:
            return JSONResponse({"message": str(error)}, 401, {"www-authenticate": "Bearer"})
        return JSONResponse(status.page())

    return Route("/status", page, methods=["GET"])
