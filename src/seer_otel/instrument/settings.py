"""Where to ship and how much: arguments, else the environment, else the defaults."""

import logging
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from seer_otel import semconv
from seer_otel.errors import ConfigError

ENDPOINT: Final = "SEER_ENDPOINT"
"""Base URL of the evaluator; `/v1/traces` is appended."""
SAMPLE_RATE: Final = "SEER_SAMPLE_RATE"
"""0..1. Share of the traces that is judged, where a request says nothing else."""
SEND: Final = "SEER_SEND"
"""`off`: ship nothing, for the spans pass the evaluator anyway."""
TOOLS: Final = "SEER_TOOLS"
"""Names, with commas between: tools whose calls return documents, and are judged."""
API_KEY: Final = "SEER_API_KEY"
"""Sent as `authorization: Bearer …`."""

DEFAULT_ENDPOINT: Final = "http://127.0.0.1:4318"
DEFAULT_SAMPLE_RATE: Final = 0.1

_TRACES: Final = "/v1/traces"
_OFF = {"off", "false", "no", "0"}

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a processor was told."""

    traces_url: str
    sample_rate: float
    """0..1."""
    send: bool
    tools: tuple[str, ...]
    headers: Mapping[str, str] = field(repr=False)
    """Small letters; the key of the evaluator may be among them."""

    @property
    def endpoint(self) -> str:
        """Base URL of the evaluator."""
        return self.traces_url.removesuffix(_TRACES)


def settle(
    *,
    endpoint: str | None,
    sample_rate: float | None,
    send: bool | None,
    api_key: str | None,
    headers: Mapping[str, str] | None,
    tools: Iterable[str] | None,
) -> Settings:
    """
    Fill up the arguments from the environment and the defaults.

    A wrong argument is an error of the program and raises. A wrong variable must not stop an
    application: it costs a warning, and a wrong endpoint the shipping too, for the default may be
    somebody else's port.

    Raises:
        ConfigError: An argument cannot be used.
    """
    if endpoint is not None and not _is_url(endpoint):
        raise ConfigError(f"endpoint is to be an http(s) URL, not {endpoint!r}")
    if sample_rate is not None and not 0 <= sample_rate <= 1:
        raise ConfigError(f"sample_rate is to lie between 0 and 1, not {sample_rate}")
    if send is None:
        send = os.environ.get(SEND, "").strip().lower() not in _OFF
    if endpoint is None:
        endpoint = os.environ.get(ENDPOINT, "").strip() or DEFAULT_ENDPOINT
        if not _is_url(endpoint):
            _logger.warning("%s is no http(s) URL: nothing is shipped to be judged", ENDPOINT)
            endpoint, send = DEFAULT_ENDPOINT, False
    key = api_key or os.environ.get(API_KEY, "").strip()
    return Settings(
        traces_url=endpoint.rstrip("/") + _TRACES,
        sample_rate=_rate_of_environment() if sample_rate is None else sample_rate,
        send=send,
        tools=_tools_of_environment() if tools is None else tuple(tools),
        headers={
            **({"authorization": f"Bearer {key}"} if key else {}),
            **{name.lower(): value for name, value in (headers or {}).items()},
            "content-type": "application/x-protobuf",
            semconv.FORWARD_HEADER: "no",
        },
    )


def clamped(rate: float | None) -> float | None:
    """Return a rate that a request gave, brought into 0..1; None where it is no number."""
    if rate is None or isinstance(rate, bool) or not isinstance(rate, int | float):
        return None
    return None if math.isnan(rate) else min(max(float(rate), 0.0), 1.0)


def _rate_of_environment() -> float:
    text = os.environ.get(SAMPLE_RATE, "").strip()
    if not text:
        return DEFAULT_SAMPLE_RATE
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 <= rate <= 1:
        _logger.warning("%s is no number in 0..1; using %s", SAMPLE_RATE, DEFAULT_SAMPLE_RATE)
        return DEFAULT_SAMPLE_RATE
    return rate


def _tools_of_environment() -> tuple[str, ...]:
    names = (name.strip() for name in os.environ.get(TOOLS, "").split(","))
    return tuple(name for name in names if name)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
