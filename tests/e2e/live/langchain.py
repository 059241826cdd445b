"""LangChain: a chain that asks its retriever for one thing first."""

import sys
from importlib import import_module

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, RunnableLambda

from .application import PASSAGES, QUESTION, SUBQUERY, traced

INSTRUMENTORS = {
    "openinference": ("openinference.instrumentation.langchain", "LangChainInstrumentor"),
    "openllmetry": ("opentelemetry.instrumentation.langchain", "LangchainInstrumentor"),
    "official": ("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor"),
}


class Everything(BaseRetriever):
    """Finds all there is."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [Document(id=i, page_content=text) for i, text in PASSAGES.items()]


def answer(asked: dict[str, str], config: RunnableConfig) -> int:
    """Find what the answer would be written from."""
    return len(Everything().invoke(SUBQUERY, config))


def ask() -> None:
    """Answer one question."""
    RunnableLambda(answer).with_config(run_name="answer").invoke({"question": QUESTION})


def main(instrumentations: list[str], *, resolves: bool) -> None:
    """Have the answering of one question traced and shipped."""
    with traced((lambda ids: [PASSAGES[i] for i in ids]) if resolves else None) as provider:
        for name in instrumentations:
            module, instrumentor = INSTRUMENTORS[name]
            # One of them asks for a package on top of LangChain that is not needed here.
            getattr(import_module(module), instrumentor)().instrument(
                tracer_provider=provider, skip_dep_check=True
            )
        ask()


if __name__ == "__main__":
    if sys.argv[1:]:
        main([name for name in sys.argv[1:] if name != "resolve"], resolves="resolve" in sys.argv)
    else:
        ask()  # seen from outside alone
