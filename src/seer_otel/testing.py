"""Fakes for tests of this package and of applications that use it."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from seer_otel.errors import JudgeError
from seer_otel.judge.protocol import Question, Requirements, Support


@dataclass
class ManualClock:
    """A clock that stands still until it is told to go on."""

    time: float = 1_796_000_000.0
    wrong_by: float = 0.0

    def now(self) -> float:
        """Seconds since the epoch, as somebody set them."""
        return self.time + self.wrong_by

    def monotonic(self) -> float:
        """The same seconds, whatever somebody set."""
        return self.time

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.time += seconds

    def jump(self, seconds: float) -> None:
        """Set the clock, forwards or backwards, while no time passes."""
        self.wrong_by += seconds


@dataclass
class ScriptedJudge:
    """
    A judge that answers by a script and keeps what it was asked.

    `script` maps a query to its requirements, each with the texts of the passages that support
    it; a query that is not in it needs nothing. An error is raised instead of an answer.
    """

    script: Mapping[str, Sequence[tuple[str, Sequence[str]]] | JudgeError]
    name: str = "scripted/test"
    revision: str = "1"
    delay_s: float = 0.0
    questions: list[Question] = field(default_factory=list)
    """Every support question, in order."""
    enumerated: list[str] = field(default_factory=list)
    """Every query whose requirements were asked for, in order."""
    before_reply: Callable[[], None] | None = None

    async def requirements(self, query: str) -> Requirements:
        """Look the query up in the script."""
        self.enumerated.append(query)
        return Requirements(tuple(text for text, _ in self._entry(query)))

    async def support(self, question: Question) -> Support:
        """Cite the passages whose texts the script names."""
        self.questions.append(question)
        if self.before_reply is not None:
            self.before_reply()
        await asyncio.sleep(self.delay_s)
        citations: dict[int, tuple[int, ...]] = {}
        for asked in question.asked:
            texts = {text: set(passages) for text, passages in self._entry(asked.query)}
            for number, requirement in asked.requirements.items():
                wanted = texts.get(requirement, set())
                citations[number] = tuple(n for n, t in question.passages.items() if t in wanted)
        return Support(citations)

    async def aclose(self) -> None:
        """Nothing to release."""

    def _entry(self, query: str) -> Sequence[tuple[str, Sequence[str]]]:
        entry = self.script.get(query, ())
        if isinstance(entry, JudgeError):
            raise entry
        return entry


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a `ChatStub` answers: a completion, unless told otherwise."""

    content: str | None = None
    finish_reason: str | None = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    """JSON, or text as it is, in place of a completion."""
    hangs: bool = False
    """Whether it never answers."""


class ChatStub:
    """
    An OpenAI-compatible chat endpoint on loopback that answers by a script.

    Enter it as an asynchronous context manager; `base_url` is good inside. Every completion says
    that it read 100 tokens and wrote 10.
    """

    def __init__(self, answer: Callable[[dict[str, Any]], ChatReply]) -> None:
        self._answer = answer
        self._open: set[asyncio.Task[None]] = set()
        self.requests: list[dict[str, Any]] = []
        """The bodies of the requests, in order."""
        self.headers: list[dict[str, str]] = []
        """Their headers, by small letters."""
        self.targets: list[str] = []
        """Their paths, with the query."""
        self.base_url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *rest = head.split("\r\n")
            fields = (line.partition(":") for line in rest if line)
            headers = {name.lower(): value.strip() for name, _, value in fields}
            request = json.loads(await reader.readexactly(int(headers["content-length"])))
            self.targets.append(first.split(" ")[1])
            self.headers.append(headers)
            self.requests.append(request)
            reply = self._answer(request)
            if reply.hangs:
                await asyncio.Event().wait()
            writer.write(_http(reply))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client left
        finally:
            writer.close()


def _http(reply: ChatReply) -> bytes:
    completion = {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.content},
                "finish_reason": reply.finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    body = completion if reply.body is None else reply.body
    payload = (body if isinstance(body, str) else json.dumps(body)).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(payload)),
        "connection": "close",
        **reply.headers,
    }
    lines = [f"HTTP/1.1 {reply.status} Stub", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + payload
