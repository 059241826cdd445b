"""One OpenAI-compatible endpoint: how it is asked, when again, and what its errors mean."""

import asyncio
import json
import random
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    Omit,
    RequestOptions,
)
from opentelemetry import context

from seer_otel.clock import Clock, SystemClock
from seer_otel.errors import JudgeError, JudgeFailed, JudgeRefused, JudgeTimeout
from seer_otel.judge.calls import Call, Observe, Price
from seer_otel.judge.completions import Completion, read
from seer_otel.judge.manners import Manners, Schema
from seer_otel.judge.prompting import Messages
from seer_otel.verdict import Usage

ATTEMPTS: Final = 3
"""Requests for one reply, where the server is busy, failing or away."""
_BACKOFF_S = 0.5
_REFUSING = frozenset({400, 404, 422, 500, 501})  # llama-cpp-python answers 500
_BUSY = frozenset({408, 409, 429})

_LOOK_AWAY: Final[tuple[str, ...]] = (
    # The API has no public name for the first two, which all of its instrumentations honour.
    context._SUPPRESS_INSTRUMENTATION_KEY,
    context._SUPPRESS_HTTP_INSTRUMENTATION_KEY,
    "suppress_instrumentation",
    "suppress_language_model_instrumentation",
)

Sleep = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wrote."""

    text: str
    """Empty where it wrote nothing, or thought until there was no room left."""
    cut: bool
    """Whether it ended for want of room."""
    usage: Usage


class ChatEndpoint:
    """
    A model behind an OpenAI-compatible server.

    Args:
        client: Knows the server; without retries of its own.
        model: The model's name, as the server knows it.
        headers: Those that differ from the client's.
        price: What its tokens cost, if that is known.
        observe: Is told of every request.
        sleep: Waits between attempts.
        clock: Times the requests.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        model: str,
        *,
        headers: Mapping[str, str | Omit],
        price: Price | None = None,
        observe: Observe = lambda _: None,
        sleep: Sleep = asyncio.sleep,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._model = model
        self._options = RequestOptions(headers=headers)
        self._price = price
        self._observe = observe
        self._sleep = sleep
        self._clock = clock or SystemClock()
        self._manners = Manners()

    async def complete(
        self, messages: Messages, schema: Schema, *, room: int, until: float
    ) -> Reply:
        """
        Get one reply, trying again where that may help.

        Args:
            messages: The prompt.
            schema: The shape asked for; a server that takes no schema has the prompt's word.
            room: Tokens that the model may write, thinking included.
            until: When the caller stops waiting, in the event loop's time.

        Raises:
            JudgeFailed: The server is busy, failing or away, or cannot take the request.
            JudgeRefused: Key or content were refused.
            JudgeTimeout: The connection timed out.
            JudgeParse: What came back is no completion.
        """
        attempt = 1
        while True:
            level, path, body = self._manners.request(self._model, messages, schema, room)
            try:
                return await self._attempt(path, body, until)
            except APIStatusError as error:
                if error.status_code in _REFUSING and self._manners.lower(level, _said(error)):
                    continue
                failure = _failure(error)
                again = error.status_code in _BUSY or error.status_code >= 500
                delay = _retry_after(error.response.headers)
            except APIConnectionError:
                failure = JudgeFailed("the judge could not be reached", "connection")
                again, delay = True, None
            if delay is None:
                delay = _BACKOFF_S * 2 ** (attempt - 1) * random.uniform(1, 1.25)
            if (
                not again
                or attempt == ATTEMPTS
                or asyncio.get_running_loop().time() + delay > until
            ):
                raise failure
            attempt += 1
            await self._sleep(delay)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _attempt(self, path: str, body: Mapping[str, object], until: float) -> Reply:
        """Send one request, and tell what came of it."""
        started = self._clock.monotonic()
        usage, error_type = Usage(), None
        try:
            with _untraced():
                # Not `chat.completions.create`: some instrumentations wrap that, and never look
                # away.
                answer = await self._client.post(
                    path, cast_to=str, body=body, options=self._options
                )
            completion = read(path, answer)
            usage = self._usage(completion)
            completion.check()
            return Reply(completion.text, completion.cut, usage)
        except APITimeoutError:
            error_type = JudgeTimeout.reason
            raise JudgeTimeout("the judge did not reply in time") from None
        except asyncio.CancelledError:
            # The caller's time is up, or nobody waits any more: then nothing is known of it.
            late = asyncio.get_running_loop().time() >= until
            error_type = JudgeTimeout.reason if late else "cancelled"
            raise
        except APIStatusError as error:
            error_type = str(error.status_code)
            raise
        except APIConnectionError:
            error_type = "connection"
            raise
        except JudgeError as error:
            error_type = error.error_type
            raise
        finally:
            duration_s = self._clock.monotonic() - started
            server = self._client.base_url.host
            self._observe(Call(self._model, server, duration_s, usage, error_type))

    def _usage(self, completion: Completion) -> Usage:
        tokens = completion.input_tokens, completion.output_tokens
        return Usage(1, *tokens, self._price.of(*tokens) if self._price is not None else None)


def _failure(error: APIStatusError) -> JudgeError:
    # The server's own words stay out of it: they may quote the prompt.
    status = str(error.status_code)
    if error.status_code == 400 and re.search("content_filter|content_policy", _said(error)):
        return JudgeRefused("the judge's content filter declined", "content_filter")
    if error.status_code in (401, 403):
        return JudgeRefused(f"the judge refused the key (HTTP {status})", status)
    code = f", {error.code}" if re.fullmatch(r"\w{1,40}", error.code or "") else ""
    return JudgeFailed(f"the judge answered HTTP {status}{code}", status)


def _said(error: APIStatusError) -> str:
    body = error.body if isinstance(error.body, str) else json.dumps(error.body, default=str)
    return body[:1000]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait, if it does."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


@contextmanager
def _untraced() -> Iterator[None]:
    """Ask instrumentations of OpenAI and HTTP clients to look away: a judge's calls are our own."""
    told = context.get_current()
    for key in _LOOK_AWAY:
        told = context.set_value(key, True, told)
    token = context.attach(told)
    try:
        yield
    finally:
        context.detach(token)
