"""
The processor without a line of code: a hook of `opentelemetry-instrument`.

`SEER_ENDPOINT` switches it on; the rest is in the environment too.
"""

import functools
import logging
import os
from typing import Literal

from opentelemetry import trace

from seer_otel.instrument import exporter, settings
from seer_otel.instrument.processor import SeerSpanProcessor

_logger = logging.getLogger(__name__)
_state: Literal["off", "waiting", "attached"] = "off"


def attach() -> None:
    """
    Add a processor to the application's tracer provider, once in a process.

    Where there is no provider yet, it is added when the application sets one. Does nothing without
    `SEER_ENDPOINT`, nor beside an exporter that ships the same spans, and never raises.
    """
    told = os.environ.get(settings.ENDPOINT, "").strip()
    if _state == "attached" or exporter.in_use or not told:
        return
    try:
        provider = trace.get_tracer_provider()
        if not isinstance(provider, trace.ProxyTracerProvider):
            _attach_to(provider)
        elif _state == "off":
            _wait_for_a_provider()
    except Exception as error:  # An application is never broken by this.
        _logger.warning("Retrievals will not be judged: %s", type(error).__name__)


def _attach_to(provider: trace.TracerProvider) -> None:
    global _state
    _state = "attached"
    add = getattr(provider, "add_span_processor", None)
    if add is None:
        kind = type(provider).__name__
        _logger.warning("Retrievals will not be judged: a %s takes no span processors", kind)
        return
    add(SeerSpanProcessor())


def _wait_for_a_provider() -> None:
    global _state
    _state = "waiting"
    setting = trace.set_tracer_provider

    @functools.wraps(setting)
    def set_tracer_provider(tracer_provider: trace.TracerProvider) -> None:
        setting(tracer_provider)
        attach()

    trace.set_tracer_provider = set_tracer_provider
