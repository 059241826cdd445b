"""What a request must show, and how large it may be."""

import hmac
import zlib

from seer_otel.errors import TooLarge, Undecodable
from seer_otel.evaluator.receive.answers import Unauthenticated


class Gate:
    """Checks the bearer key, where one is configured."""

    def __init__(self, api_key: str | None) -> None:
        self._expected = None if api_key is None else f"Bearer {api_key}".encode()

    def check(self, authorization: str | None) -> None:
        """
        Compare in constant time.

        Raises:
            Unauthenticated: There is no key, or not the right one.
        """
        if self._expected is None:
            return
        given = (authorization or "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(self._expected, given):
            raise Unauthenticated(
                "this evaluator wants the header `authorization: Bearer <SEER_API_KEY>`"
            )


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
