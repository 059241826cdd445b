"""Secrets in settings: how a URL is shown without them, and which there are."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, SecretStr

MASK: Final = "***"
"""Stands for a secret where something is shown."""

_USERINFO: Final = re.compile(r"^([a-z][a-z0-9+.-]*://)?.*@", re.IGNORECASE | re.DOTALL)


def shown(url: str) -> str:
    """Return a URL as anybody may see it: without its password and its query."""
    address, mark, _ = url.partition("#")[0].partition("?")
    return _USERINFO.sub(rf"\1{MASK}@", address) + (f"?{MASK}" if mark else "")


def secrets_of(settings: object) -> frozenset[str]:
    """Return every secret in settings: keys, values of headers, and what `shown` leaves out."""
    return frozenset(_found(settings))


def _found(value: object) -> Iterator[str]:
    match value:
        case SecretStr():
            secret = value.get_secret_value()
            yield from (secret, secret.rpartition(" ")[2])  # the second is a bearer's token
        case str() if "://" in value:
            yield from _in_url(value)
        case BaseModel():
            for _, inner in value:
                yield from _found(inner)
        case dict():
            for inner in value.values():
                yield from _found(inner)
        case list():
            for inner in value:
                yield from _found(inner)


def _in_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        yield url
        return
    userinfo = parts.netloc.rpartition("@")[0]
    values = [pair.partition("=")[2] or pair for pair in parts.query.split("&")]
    for secret in (userinfo, userinfo.partition(":")[2], parts.query, *values):
        if secret:
            yield from {secret, unquote(secret)}
