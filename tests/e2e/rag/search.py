"""The part that both applications share: BM25 over Wikipedia passages, two hops, an answer."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import bm25s

DATA = Path(__file__).resolve().parents[2] / "data" / "ir" / "2wiki"


@dataclass(frozen=True)
class Document:
    """One passage of the corpus."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Hit:
    """A document that was found; the score is BM25's, higher is better."""

    document: Document
    score: float


class Index:
    """BM25 over the corpus."""

    def __init__(self, documents: list[Document]) -> None:
        """Index the documents, their titles included."""
        self._documents = documents
        self._bm25 = bm25s.BM25()
        texts = [f"{document.title} {document.text}" for document in documents]
        self._bm25.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)

    def search(self, query: str, count: int) -> list[Hit]:
        """Return the best documents, best first."""
        tokens = bm25s.tokenize([query], show_progress=False)
        numbers, scores = self._bm25.retrieve(tokens, k=count, show_progress=False)
        return [
            Hit(self._documents[number], float(score))
            for number, score in zip(numbers[0], scores[0], strict=True)
        ]


def load_index() -> Index:
    """Read the corpus."""
    with (DATA / "corpus.jsonl").open() as lines:
        rows = [json.loads(line) for line in lines]
    return Index([Document(row["_id"], row["title"], row["text"]) for row in rows])


def questions(count: int) -> list[str]:
    """Return the first questions that need two hops."""
    with (DATA / "queries.jsonl").open() as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows if row["metadata"]["type"] == "compositional"][:count]


def next_hop(question: str, hits: list[Hit]) -> str:
    """Ask about the first name in the best document that the question does not have."""
    best = hits[0].document
    names = re.findall(r"[A-Z]\w+(?: [A-Z]\w+)+", best.text)
    unknown = [name for name in names if name not in question and name not in best.title]
    return f"Who is {unknown[0]}?" if unknown else f"What is known about {best.title}?"


def answer(question: str, texts: list[str]) -> str:
    """Answer with the sentence that shares the most words with the question."""
    words = set(re.findall(r"\w+", question.lower()))
    sentences = [sentence for text in texts for sentence in text.split(". ")]
    return max(sentences, key=lambda s: len(words & set(re.findall(r"\w+", s.lower()))))
