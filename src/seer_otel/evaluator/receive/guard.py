"""How large a body may become."""

import asyncio
import zlib
from typing import Final

from seer_otel.errors import TooLarge, Undecodable

OFF_LOOP_BYTES: Final = 16 * 1024
"""Packed bodies above are unpacked in a thread: they may be a thousand times as large."""

_GZIP: Final = b"\x1f\x8b"


async def unpacked(body: bytes, limit: int) -> bytes:
    """
    Return a protobuf body, unpacked where it is gzip: no message begins with the bytes of that.

    Raises:
        TooLarge, Undecodable: As `gunzip`.
    """
    return await gunzip_apart(body, limit) if body.startswith(_GZIP) else body


async def gunzip_apart(body: bytes, limit: int) -> bytes:
    """Decompress, in a thread where that may take long."""
    if len(body) > OFF_LOOP_BYTES:
        return await asyncio.to_thread(gunzip, body, limit)
    return gunzip(body, limit)


def gunzip(body: bytes, limit: int) -> bytes:
    """
    Decompress a gzip body, all members of it.

    Raises:
        TooLarge: It would be larger than the limit; no more than that is ever made.
        Undecodable: It is broken, or cut.
    """
    out = bytearray()
    rest = body
    while rest:
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            out += member.decompress(rest, limit + 1 - len(out))
        except zlib.error as error:
            raise Undecodable(f"the body is no gzip stream: {error}") from None
        if len(out) > limit:
            raise TooLarge("the decompressed body", len(out), limit)
        if not member.eof:
            raise Undecodable("the gzip stream ends too early")
        rest = member.unused_data
    return bytes(out)
