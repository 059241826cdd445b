"""OpenTelemetry as an application sets it up, and a record of what it exported."""

import json
import sys

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


class Record(SpanProcessor):
    """Keeps which spans ended here, for the test to look for them at the other end."""

    def __init__(self) -> None:
        """Begin with none."""
        self.spans: list[dict[str, str]] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Keep ids and name."""
        if span.context is not None:
            self.spans.append(
                {
                    "trace_id": f"{span.context.trace_id:032x}",
                    "span_id": f"{span.context.span_id:016x}",
                    "name": span.name,
                }
            )

    def print(self) -> None:
        """Write the record to standard output."""
        json.dump(self.spans, sys.stdout)


def set_up() -> tuple[TracerProvider, Record]:
    """Export to where OTEL_EXPORTER_OTLP_ENDPOINT says."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    record = Record()
    provider.add_span_processor(record)
    return provider, record
