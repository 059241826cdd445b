"""
Looks up the texts of documents that came as ids alone, at an endpoint of the application.

    POST URL  {"ids": ["d1", "d2"]}  ──►  {"texts": {"d1": "The text.", "d2": null}}

Only the URL that a person configured is ever called.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final

import httpx
from pydantic import BaseModel, ValidationError

ANSWER_BYTES: Final = 64 * 1024 * 1024
"""A larger answer is a failed look-up."""

log = logging.getLogger(__name__)


class _Answer(BaseModel):
    texts: dict[str, str | None]


class _TooLarge(Exception):
    """Raised where an answer is beyond all measure."""


class Resolver:
    """
    A client of the endpoint, with a memory of the texts it had lately.

    Args:
        url: Where to ask.
        timeout_s: For all the ids of one retrieval.
        headers: Sent with each request.
        batch: Ids in one request, at most.
        cache: Characters of texts that are remembered, at most.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = 5.0,
        headers: Mapping[str, str] | None = None,
        batch: int = 100,
        cache: int = 16_000_000,
    ) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._batch = batch
        self._most = cache
        self._remembered: OrderedDict[str, str] = OrderedDict()
        self._characters = 0
        self._client = httpx.AsyncClient(
            timeout=timeout_s, headers=headers, trust_env=False, follow_redirects=False
        )
        self.trouble: str | None = None
        """What the last look-up failed with; None where it did not."""

    async def __call__(self, ids: Sequence[str]) -> Mapping[str, str]:
        """
        Return the texts that there are, by id.

        Empty where the look-up failed: half of a context, judged as if it were whole, would be
        worse than none.
        """
        found = {i: self._remember(i, self._remembered[i]) for i in ids if i in self._remembered}
        unknown = [i for i in dict.fromkeys(ids) if i not in found]
        try:
            async with asyncio.timeout(self._timeout_s):
                for start in range(0, len(unknown), self._batch):
                    found |= await self._ask(unknown[start : start + self._batch])
        except (httpx.HTTPError, ValidationError, TimeoutError, _TooLarge) as error:
            self._failed(error)
            return {}
        if unknown and self.trouble is not None:
            log.info("the resolver answers again")
            self.trouble = None
        return found

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _ask(self, ids: Sequence[str]) -> dict[str, str]:
        body = bytearray()
        async with self._client.stream("POST", self._url, json={"ids": ids}) as response:
            response.raise_for_status()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > ANSWER_BYTES:
                    raise _TooLarge
        texts = _Answer.model_validate_json(bytes(body)).texts
        given = {i: text for i in ids if (text := texts.get(i)) is not None}
        return {i: self._remember(i, text) for i, text in given.items()}

    def _remember(self, identity: str, text: str) -> str:
        self._characters += len(text) - len(self._remembered.pop(identity, ""))
        self._remembered[identity] = text
        while self._characters > self._most:
            self._characters -= len(self._remembered.popitem(last=False)[1])
        return text

    def _failed(self, error: Exception) -> None:
        """Say so once, until it answers again. Never with what was asked or answered."""
        if self.trouble is None:
            log.warning(
                "the resolver gives no texts (%s): retrievals whose documents came as ids alone "
                "stay without content",
                _said(error),
            )
        self.trouble = f"gives no texts ({_said(error)})"


def _said(error: Exception) -> str:
    match error:
        case httpx.HTTPStatusError():
            return f"HTTP {error.response.status_code}"
        case ValidationError():
            return 'its answer is not {"texts": {id: text}}'
        case _TooLarge():
            return f"its answer is larger than {ANSWER_BYTES} bytes"
        case _:
            return type(error).__name__
