"""One question, one retrieval of three passages: two of them are needed."""

from opentelemetry import trace

from seer_otel import SeerSpanProcessor, request, retrieval

from . import telemetry

QUESTION = "Who directed Inception and what is their nationality?"
PASSAGES = [
    {"id": "p1", "text": "Christopher Nolan directed Inception.", "score": 0.95},
    {"id": "p2", "text": "Nolan is British-American.", "score": 0.89},
    {"id": "p3", "text": "Inception released in 2010.", "score": 0.72},
]


def main() -> None:
    """Retrieve once."""
    provider, record = telemetry.set_up()
    provider.add_span_processor(SeerSpanProcessor())
    trace.set_tracer_provider(provider)
    with request(task=QUESTION), retrieval() as found:
        found.context = PASSAGES
    provider.shutdown()
    record.print()


if __name__ == "__main__":
    main()
