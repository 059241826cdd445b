"""What goes wrong around the service, at random and one after another."""

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from seer_otel.testing import ChatReply, ChatStub
from tests.service.backend import Backend

Change = Callable[[], None]


class Judge:
    """A model that is well, slow, busy, down, hanging, or talks rubbish."""

    def __init__(self) -> None:
        self.mood = "well"
        self.stub = ChatStub(self._answer)

    def _answer(self, asked: dict[str, Any]) -> ChatReply:
        match self.mood:
            case "busy":
                return ChatReply(status=429, headers={"retry-after": "1"})
            case "down":
                return ChatReply(status=503)
            case "hanging":
                return ChatReply(hangs=True)
            case "raving":
                return ChatReply("Let me think about that for a moment.")
        if asked["response_format"]["json_schema"]["name"] == "requirements":
            return ChatReply(json.dumps({"requirements": ["who directed Inception"]}))
        verdict = {"requirement": 1, "passages": [1], "unsure": False}
        return ChatReply(json.dumps({"verdicts": [verdict]}))


class NextHop:
    """A back end that is well, away, slow, or refuses poison for good."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._slow: asyncio.Task[None] | None = None

    def well(self) -> None:
        self.backend.answer = None
        self._hurry()

    def away(self) -> None:
        self.well()
        self.backend.answer = lambda _: grpc.StatusCode.UNAVAILABLE

    def refusing(self) -> None:
        self.well()
        self.backend.answer = _poisoned

    def slow(self) -> None:
        self.well()
        self._slow = asyncio.create_task(self._open_and_close())

    async def _open_and_close(self) -> None:
        while True:
            self.backend.gate = asyncio.Event()
            await asyncio.sleep(random.uniform(1.0, 4.0))
            self.backend.gate.set()
            await asyncio.sleep(0)

    def _hurry(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None
        if self.backend.gate is not None:
            self.backend.gate.set()
            self.backend.gate = None


def _poisoned(message: ExportTraceServiceRequest) -> grpc.StatusCode | None:
    names = [s.name for r in message.resource_spans for c in r.scope_spans for s in c.spans]
    return grpc.StatusCode.INVALID_ARGUMENT if "poison" in names else None


async def make_trouble(judge: Judge, next_hop: NextHop, tell: Callable[[str], None]) -> None:
    """Change something every few seconds, for ever; half of the time, all is well."""
    moods = ("busy", "down", "hanging", "raving")
    hops = (next_hop.away, next_hop.slow, next_hop.refusing)
    while True:
        judge.mood = random.choice(("well", random.choice(moods)))
        hop = random.choice((next_hop.well, random.choice(hops)))
        hop()
        tell(f"judge {judge.mood}, next hop {hop.__name__}")
        await asyncio.sleep(random.uniform(2.0, 10.0))
