"""LlamaIndex: a query engine, under OpenInference."""

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

from .application import PASSAGES, QUESTION, traced

if __name__ == "__main__":
    with traced() as provider:
        LlamaIndexInstrumentor().instrument(tracer_provider=provider)
        nodes = [TextNode(id_=i, text=text) for i, text in PASSAGES.items()]
        index = VectorStoreIndex(nodes, embed_model=MockEmbedding(2))
        index.as_query_engine(llm=MockLLM(), similarity_top_k=3).query(QUESTION)
