"""Bodies of HTTP requests: read up to a limit, unpacked, large ones off the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from starlette.requests import Request

from seer_otel.errors import TooLarge
from seer_otel.evaluator.receive import guard
from seer_otel.evaluator.receive.answers import Unsupported

OFF_LOOP_BYTES: Final = 256 * 1024
"""Bodies above are converted in a thread."""

_CONVERTING: Final = ThreadPoolExecutor(1, "seer-convert")
"""JSON grows many times when it is read: large bodies take turns. They would not be faster."""

T = TypeVar("T")


async def body_of(request: Request, max_bytes: int) -> bytes:
    """
    Read a body, and unpack it.

    Raises:
        TooLarge: It has, or unpacks to, more bytes than may be.
        Undecodable: It is no gzip stream.
        Unsupported: It is packed in another way.
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("gzip", "identity", ""):
        raise Unsupported(f"content-encoding {encoding[:40]!r} is not supported; use gzip or none")
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told[:20]) > max_bytes:
        raise TooLarge("the body", int(told[:20]), max_bytes)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            raise TooLarge("the body", size, max_bytes)
        parts.append(part)
    body = b"".join(parts)
    if encoding == "gzip":
        return await guard.gunzip_apart(body, max_bytes)
    return body


async def apart(size: int, convert: Callable[[], T]) -> T:
    """Convert what has so many bytes, in a thread where they are many."""
    if size <= OFF_LOOP_BYTES:
        return convert()
    return await asyncio.get_running_loop().run_in_executor(_CONVERTING, convert)


def media_type(request: Request) -> str:
    """Return the content type of a request, less its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
