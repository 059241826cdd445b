"""Settings of who may come in, and of what leaves: TLS, redaction, payload."""

import re
from pathlib import Path
from typing import Self

from pydantic import BaseModel, field_validator, model_validator

from seer_otel.config.values import STRICT


class Tls(BaseModel):
    """Encryption of both listeners, and who may speak to them."""

    model_config = STRICT

    certificate: Path
    """Of this service, in PEM, with the certificates between it and its CA."""
    key: Path
    """Private key of the certificate, in PEM, without a password."""
    client_ca: Path | None = None
    """CA in PEM; where given, clients must show a certificate of it."""


class Redact(BaseModel):
    """What is taken out of texts before anything but the span's own bytes is kept of them."""

    model_config = STRICT

    patterns: list[str] = []
    """Regular expressions; what they match becomes `[redacted]`."""
    function: str | None = None
    """`module:function`; takes a text, and returns what may be seen of it. Called last."""

    @field_validator("patterns")
    @classmethod
    def _compile(cls, patterns: list[str]) -> list[str]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
        return patterns

    @model_validator(mode="after")
    def _check(self) -> Self:
        module, colon, name = (self.function or "a:b").partition(":")
        if not (
            colon and name and all(part.isidentifier() for part in f"{module}.{name}".split("."))
        ):
            raise ValueError(
                "function is written module:function, such as my_package.privacy:redact"
            )
        return self
