"""The application on LangChain, seen by OpenInference alone: not a line about evaluation."""

import sys
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, RunnableLambda
from openinference.instrumentation.langchain import LangChainInstrumentor

from . import search, telemetry


class Bm25Retriever(BaseRetriever):
    """Finds documents with BM25."""

    index: Any

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [
            Document(
                page_content=hit.document.text,
                metadata={"id": hit.document.id, "title": hit.document.title, "score": hit.score},
            )
            for hit in self.index.search(query, 5)
        ]


class Extractive(SimpleChatModel):
    """A model without a network: it picks a sentence of its prompt."""

    @property
    def _llm_type(self) -> str:
        return "extractive"

    def _call(self, messages: list[BaseMessage], *_: object, **__: object) -> str:
        question, *passages = str(messages[-1].content).split("\n")
        return search.answer(question, passages)


def main(count: int) -> None:
    """Answer the first questions."""
    provider, record = telemetry.set_up()
    LangChainInstrumentor().instrument(tracer_provider=provider)
    index = search.load_index()
    retriever = Bm25Retriever(index=index)
    writer = ChatPromptTemplate.from_template("{question}\n{passages}") | Extractive()

    def answer(question: str, config: RunnableConfig) -> str:
        first = retriever.invoke(question, config)
        hits = [
            search.Hit(search.Document("", found.metadata["title"], found.page_content), 0.0)
            for found in first
        ]
        second = retriever.invoke(search.next_hop(question, hits), config)
        passages = "\n".join(found.page_content for found in first + second)
        return str(writer.invoke({"question": question, "passages": passages}, config).content)

    chain = RunnableLambda(answer).with_config(run_name="answer")
    for question in search.questions(count):
        chain.invoke(question)
    provider.shutdown()
    record.print()


if __name__ == "__main__":
    main(int(sys.argv[1]))
