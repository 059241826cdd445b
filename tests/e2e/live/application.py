"""What the applications have in common: what they ask, what they find, and their telemetry."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.sdk.trace import TracerProvider

from seer_otel import SeerSpanProcessor
from seer_otel.instrument.resolving import Resolve
from tests.service.spans import DIRECTED, NATIONALITY, RELEASED, TASK

QUESTION = TASK
SUBQUERY = "Who directed Inception?"
PASSAGES = {"d1": DIRECTED, "d2": NATIONALITY, "d3": RELEASED}
"""What the retrievers find, by id; the first two are needed for the question."""


@contextmanager
def traced(resolve: Resolve | None = None) -> Iterator[TracerProvider]:
    """Provide for spans; SEER_ENDPOINT says where the evaluator is."""
    # What has OpenTelemetry's own instrumentations record queries and inputs.
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    provider = TracerProvider()
    provider.add_span_processor(SeerSpanProcessor(sample_rate=1.0, resolve=resolve))
    yield provider
    provider.shutdown()
