"""What values of settings may look like, and how they are shown: addresses, URLs, keys, headers."""

import re
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    SecretStr,
)

from seer_otel.config.secrets import shown

_HEADER_NAME: Final = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_VISIBLE: Final = re.compile(r"[\x20-\x7e]+")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")

STRICT: Final = ConfigDict(extra="forbid", frozen=True)
"""Of every section: unknown settings are errors."""


def off(value: object) -> object:
    """Read `off` as nothing; YAML reads a bare one as false."""
    return None if value in ("off", False) else value


def _address(value: object) -> object:
    value = off(value)
    if value is None:
        return None
    host, colon, port = str(value).rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{value!r} is no HOST:PORT (such as 127.0.0.1:4317), nor off")
    return str(value)


Address = Annotated[str | None, BeforeValidator(_address)]


def _names(value: object) -> object:
    if not isinstance(value, str):
        return value
    return [name for part in value.split(",") if (name := part.strip())]


Names = Annotated[list[str], BeforeValidator(_names)]
"""A list of names, or one text with commas between them."""


def is_http(url: str) -> bool:
    """Whether a URL is one that HTTP, or gRPC, can be spoken to."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


Url = Annotated[str, PlainSerializer(shown)]
"""A URL; it may hold a password or a token, which no dump shows."""


def _key(key: SecretStr) -> SecretStr:
    # Whoever reads the message must not read the key, so nothing of it is said.
    value = key.get_secret_value()
    if value.startswith("sha256:") and not _DIGEST.fullmatch(value):
        raise ValueError(
            "sha256: stands before 64 hexadecimal digits (`seer-otel key` prints them)"
        )
    return visible(key)


def visible(secret: SecretStr) -> SecretStr:
    """
    Take a secret that can be the value of a header.

    Raises:
        ValueError: It is empty, or holds what no header may hold; its own text is not repeated.
    """
    value = secret.get_secret_value()
    if not _VISIBLE.fullmatch(value) or value != value.strip():
        raise ValueError("is empty, or has white space around it or characters that no header has")
    return secret


Key = Annotated[SecretStr, AfterValidator(_key)]
"""A key that clients show: itself, or `sha256:` and the hexadecimal digest of it."""

Visible = Annotated[SecretStr, AfterValidator(visible)]


def _lower(headers: object) -> object:
    if not isinstance(headers, dict):
        return headers
    # gRPC takes small letters alone, and HTTP does not mind.
    return {k.lower() if isinstance(k, str) else k: v for k, v in headers.items()}


def _named(headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
    for name in headers:
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"{name[:40]!r} is no name of a header")
    return headers


Headers = Annotated[dict[str, Visible], BeforeValidator(_lower), AfterValidator(_named)]


def one_or_more(value: object) -> object:
    """Read one text as a list of it."""
    return [value] if isinstance(value, str) else value
