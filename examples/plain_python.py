"""
A retrieval of your own, recorded and judged.

Needs the base install alone (`pip install seer-otel`). Start an evaluator first; it may be on
another machine, which SEER_ENDPOINT then names:

    seer-otel serve --forward off --http 127.0.0.1:24318 --grpc off
    SEER_ENDPOINT=http://127.0.0.1:24318 python examples/plain_python.py
"""

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider

from seer_otel import SeerSpanProcessor, request, retrieval

LIBRARY = {
    "opening": "The library opens at nine on weekdays, and at ten on Saturdays.",
    "cards": "A library card costs nothing for residents, and ten euros a year for others.",
    "cafe": "The café in the hall sells soup until four.",
}


def search(question: str) -> list[dict[str, object]]:
    """Find passages that share words with a question; yours asks a vector store, or the like."""
    words = set(question.lower().split())
    scored = [
        {"id": name, "text": text, "score": float(len(words & set(text.lower().split())))}
        for name, text in LIBRARY.items()
    ]
    return sorted(scored, key=lambda passage: -float(str(passage["score"])))[:2]


def main() -> None:
    """Answer one question, and say where its scores are."""
    provider = TracerProvider(resource=Resource.create({"service.name": "library"}))
    # Your own exporter stays as it is; this one sends copies of the retrievals to be judged.
    processor = SeerSpanProcessor(sample_rate=1.0)
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)

    question = "What does a library card cost, and when does the library open on Saturdays?"
    with request(task=question), retrieval() as found:
        found.context = search(question)
        context = found.span.get_span_context()

    provider.shutdown()
    counts = processor.counts
    print(f"shipped {counts.shipped}, dropped {counts.dropped}")
    record = f"{trace.format_trace_id(context.trace_id)}-{trace.format_span_id(context.span_id)}"
    print(f"GET /v1/records/{record}")


if __name__ == "__main__":
    main()
