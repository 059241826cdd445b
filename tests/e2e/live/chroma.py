"""Chroma: a query inside a request and one outside, under OpenLLMetry."""

import chromadb
from opentelemetry.instrumentation.chromadb import ChromaInstrumentor

from seer_otel import request

from .application import PASSAGES, QUESTION, traced

if __name__ == "__main__":
    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    collection = client.create_collection("passages", embedding_function=None)
    embeddings = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    collection.add(ids=list(PASSAGES), documents=list(PASSAGES.values()), embeddings=embeddings)
    with traced() as provider:
        ChromaInstrumentor().instrument(tracer_provider=provider)
        with request(task=QUESTION, tracer_provider=provider):
            collection.query(query_embeddings=[[1.0, 0.0]], n_results=2)
        collection.query(query_embeddings=[[1.0, 0.0]], n_results=2)
