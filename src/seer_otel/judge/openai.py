"""A judge behind any OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp, a gateway."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Omit

from seer_otel.clock import Clock
from seer_otel.errors import JudgeFailed, JudgeParse, JudgeTimeout
from seer_otel.judge.breaker import Breaker
from seer_otel.judge.budget import Budget
from seer_otel.judge.calls import Call, Observe, Price
from seer_otel.judge.endpoint import ChatEndpoint, Reply, Sleep
from seer_otel.judge.manners import SEED, TEMPERATURE, Schema
from seer_otel.judge.prompting import (
    Messages,
    Nonce,
    draw_nonce,
    requirements_prompt,
    support_prompt,
)
from seer_otel.judge.prompts import Prompts, load
from seer_otel.judge.protocol import Asked, Question, Requirements, Support, total
from seer_otel.judge.reading import read_requirements, read_support, repeats
from seer_otel.judge.slots import Slots
from seer_otel.verdict import Usage

_T = TypeVar("_T")

_ROOM = 4_096
"""Tokens for a reply, the thinking of models that think included."""
_MORE_ROOM = 16_384
"""Tokens for the second try, where the first was cut."""
_CHARACTERS_PER_TOKEN = 4


def _object_of(properties: Mapping[str, object]) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_REQUIREMENTS = Schema(
    "requirements",
    _object_of({"requirements": {"type": "array", "items": {"type": "string"}}}),
)
_SUPPORT = Schema(
    "support",
    _object_of(
        {
            "verdicts": {
                "type": "array",
                "items": _object_of(
                    {
                        "requirement": {"type": "integer"},
                        "passages": {"type": "array", "items": {"type": "integer"}},
                        "unsure": {"type": "boolean"},
                    }
                ),
            }
        }
    ),
)


class OpenAIJudge:
    """
    Judges with a chat model.

    Args:
        model: The model's name, as the server knows it.
        base_url: Up to and including `/v1`; a query in it goes along with every request.
        api_key: None for a server that needs none.
        timeout_s: Seconds for one question, retries and waits included.
        concurrency: Questions asked at once, at most; others wait, and their time does not run.
        prompts: What the model is told to do; ours unless told otherwise.
        price: What the model's tokens cost, if that is known.
        budget: What may be spent; without one, anything.
        patience_s: Seconds to wait for an endpoint that keeps failing; none where spans wait.
        observe: Is told of every request.
        nonce: Draws the code of a request.
        sleep: Waits between attempts.
        clock: Times requests, and tells when an endpoint that failed may be tried again.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        concurrency: int = 8,
        prompts: Prompts | None = None,
        price: Price | None = None,
        budget: Budget | None = None,
        patience_s: float = 0.0,
        observe: Observe = lambda _: None,
        nonce: Nonce = draw_nonce,
        sleep: Sleep = asyncio.sleep,
        clock: Clock | None = None,
    ) -> None:
        self._endpoint = ChatEndpoint(
            _client(base_url, api_key, timeout_s),
            model,
            headers=_headers(base_url, api_key),
            price=price,
            observe=self._called,
            sleep=sleep,
            clock=clock,
        )
        self._name = f"openai/{model}"
        self._prompts = prompts or load()
        self._revision = _revision(model, base_url, self._prompts)
        self._timeout_s = timeout_s
        self._slots = Slots(concurrency, clock)
        self._breaker = Breaker(patience_s=patience_s, sleep=sleep, clock=clock)
        self._budget = budget or Budget()
        self._observe = observe
        self._nonce = nonce

    @property
    def name(self) -> str:
        """`openai/<model>`."""
        return self._name

    @property
    def revision(self) -> str:
        """Changes with the prompts, the model, its host and its parameters."""
        return self._revision

    async def requirements(self, query: str) -> Requirements:
        """List what is needed to answer the query, which is all that the model sees."""
        prompt = requirements_prompt(self._prompts.requirements, query, self._nonce)
        texts, usage = await self._ask(prompt, _REQUIREMENTS, read_requirements)
        return Requirements(texts, usage)

    async def support(self, question: Question) -> Support:
        """Say which passages support which requirements, in one call."""
        prompt = support_prompt(self._prompts.support, question, self._nonce)
        reply, usage = await self._ask(prompt, _SUPPORT, read_support)
        return Support(reply.citations, usage, reply.unsure)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()

    async def _ask(
        self, prompt: Messages, schema: Schema, read: Callable[[str], _T]
    ) -> tuple[_T, Usage]:
        async with self._slots.slot():
            await self._breaker.wait()
            with self._breaker.question():
                try:
                    async with asyncio.timeout(self._timeout_s) as limit:
                        return await self._readable(prompt, schema, read, limit.when() or 0.0)
                except TimeoutError:
                    raise JudgeTimeout("the judge did not reply in time") from None

    async def _readable(
        self, prompt: Messages, schema: Schema, read: Callable[[str], _T], until: float
    ) -> tuple[_T, Usage]:
        """Return a reply that could be read; a flawed one is asked for once more."""
        shown = prompt[-1]["content"]
        first = await self._reply(prompt, schema, _ROOM, until)
        try:
            return _whole(first, shown, read), first.usage
        except _NoRoom:
            room = _MORE_ROOM
        except JudgeParse:
            room = _ROOM
        second = await self._reply(prompt, schema, room, until)
        return _whole(second, shown, read), total((first.usage, second.usage))

    async def _reply(self, prompt: Messages, schema: Schema, room: int, until: float) -> Reply:
        await self._budget.admit()
        reply = await self._endpoint.complete(prompt, schema, room=room, until=until)
        usage = reply.usage
        if usage.input_tokens is None or usage.output_tokens is None:
            # A server that does not count must not make a limit void.
            tokens = sum(len(message["content"]) for message in prompt) + len(reply.text)
            await self._budget.spend(tokens // _CHARACTERS_PER_TOKEN, usage.cost or 0.0)
        else:
            await self._budget.spend(usage.input_tokens + usage.output_tokens, usage.cost or 0.0)
        return reply

    def _called(self, call: Call) -> None:
        self._slots.note(call)
        self._observe(call)


class _NoRoom(JudgeFailed):
    """Raised where a reply ended for want of room. Half a list is no list."""


def _whole(reply: Reply, shown: str, read: Callable[[str], _T]) -> _T:
    if reply.cut or not reply.text.strip():
        raise _NoRoom("the judge's reply was cut, or empty", "reply_cut")
    answer = read(reply.text)
    if repeats(reply.text, shown):
        raise JudgeParse("the judge repeated a piece of what it was shown", "repeated")
    return answer


def _client(base_url: str, api_key: str | None, timeout_s: float) -> AsyncOpenAI:
    url = urlsplit(base_url)
    return AsyncOpenAI(
        # Without one the client would take OPENAI_API_KEY, and show it to a stranger.
        api_key=api_key or "none",
        base_url=urlunsplit(url._replace(query="", fragment="")),
        default_query=dict(parse_qsl(url.query)),
        timeout=timeout_s,
        max_retries=0,
        # The client would follow a redirect, and take the prompt along to wherever it leads.
        http_client=DefaultAsyncHttpxClient(timeout=timeout_s, follow_redirects=False),
    )


def _headers(base_url: str, api_key: str | None) -> dict[str, str | Omit]:
    """Return what differs from the headers that OpenAI's own server is sent."""
    host = urlsplit(base_url).hostname or ""
    if host == "api.openai.com":
        return {}
    # The client takes these from the environment, and they are no stranger's business.
    headers: dict[str, str | Omit] = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    if api_key is None or host.endswith(".azure.com"):
        headers["Authorization"] = Omit()
    if api_key is not None and host.endswith(".azure.com"):
        headers["api-key"] = api_key
    return headers


def _revision(model: str, base_url: str, prompts: Prompts) -> str:
    """Hash whatever can change a verdict; the layout of the prompts by way of an example."""
    question = Question((Asked("task", "query", {1: "requirement"}),), {1: "passage"})
    parts = (
        model,
        urlsplit(base_url).hostname,  # another host may serve other weights under the same name
        TEMPERATURE,
        SEED,
        requirements_prompt(prompts.requirements, "query", lambda: "nonce"),
        support_prompt(prompts.support, question, lambda: "nonce"),
        _REQUIREMENTS.schema,
        _SUPPORT.schema,
    )
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
