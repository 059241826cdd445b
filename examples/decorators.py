"""
The same with decorators: a retriever that is called twice, inside one request.

    seer-otel serve --forward off --http 127.0.0.1:24318 --grpc off
    SEER_ENDPOINT=http://127.0.0.1:24318 python examples/decorators.py
"""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from seer_otel import SeerSpanProcessor, request, retrieval, retriever

DEPOTS = {
    "tram 9": "Tram 9 runs from the market to the harbour, and sleeps in the North depot.",
    "north depot": "Irena Kowal has managed the North depot since 2019.",
    "zoo": "Tram 4 runs to the zoo.",
}


@retriever
def search(query: str) -> list[str]:
    """Find what shares words with a query; every call is a span with its query and its result."""
    words = set(query.lower().strip("?").split())
    return [text for text in DEPOTS.values() if len(words & set(text.lower().split())) > 1]


@request(task=lambda question: question)
def answer(question: str) -> str:
    """Search twice; both searches are judged against the question, and each against its query."""
    trams = search("Which tram runs to the harbour?")
    managers = search("Who has managed the North depot?")
    with retrieval(name="final context", is_final_context=True) as final:
        final.context = trams + managers
    return " ".join(trams + managers)


def main() -> None:
    """Answer one question."""
    provider = TracerProvider()
    processor = SeerSpanProcessor(sample_rate=1.0)
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)
    print(answer("Who manages the depot of the tram that runs to the harbour?"))
    provider.shutdown()
    print(f"shipped {processor.counts.shipped}, dropped {processor.counts.dropped}")


if __name__ == "__main__":
    main()
