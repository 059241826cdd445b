"""Haystack: a pipeline, under OpenInference."""

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"

from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from openinference.instrumentation.haystack import HaystackInstrumentor

from .application import PASSAGES, QUESTION, traced

if __name__ == "__main__":
    with traced() as provider:
        HaystackInstrumentor().instrument(tracer_provider=provider)
        store = InMemoryDocumentStore()
        store.write_documents([Document(id=i, content=text) for i, text in PASSAGES.items()])
        pipeline = Pipeline()
        pipeline.add_component("retriever", InMemoryBM25Retriever(store))
        pipeline.run({"retriever": {"query": QUESTION}})
