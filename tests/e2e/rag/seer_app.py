"""The application by hand, its retrievals recorded with our API."""

import sys

from opentelemetry import trace

from seer_otel import SeerSpanProcessor, request, retrieval

from . import search, telemetry

tracer = trace.get_tracer("rag")


def answer(question: str, index: search.Index) -> str:
    """Search twice, keep the best of both, answer."""
    with tracer.start_as_current_span("answer"), request(task=question):
        with retrieval(name="first hop") as hop:
            first = index.search(question, 5)
            hop.context = _passages(first)
        follow_up = search.next_hop(question, first)
        with retrieval(name="second hop", subquery=follow_up) as hop:
            second = index.search(follow_up, 5)
            hop.context = _passages(second)
        with retrieval(name="final context", is_final_context=True) as final:
            final.context = _passages(first[:3] + second[:2])
        with tracer.start_as_current_span("write"):
            return search.answer(question, [hit.document.text for hit in first[:3] + second[:2]])


def _passages(hits: list[search.Hit]) -> list[dict[str, object]]:
    return [{"id": hit.document.id, "text": hit.document.text, "score": hit.score} for hit in hits]


def main(count: int) -> None:
    """Answer the first questions."""
    provider, record = telemetry.set_up()
    provider.add_span_processor(SeerSpanProcessor())
    trace.set_tracer_provider(provider)
    index = search.load_index()
    for question in search.questions(count):
        answer(question, index)
    provider.shutdown()
    record.print()


if __name__ == "__main__":
    main(int(sys.argv[1]))
