"""The retrievers that come along, and any that a function builds."""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from seer_otel.errors import ConfigError
from seer_otel.harness.ir.eval_set import Document
from seer_otel.harness.ir.run_files import Hit, hit

Search = Callable[[str, int], Iterable[Any]]
"""
From a query and a number of documents to the best of them, the top one first: ids, pairs of id
and score, or objects with `id` and `score`.
"""
Retriever = Callable[[Sequence[Document]], Search]
"""From the corpus to a search over it."""

RRF_K: Final = 60
"""How far a high rank counts for more than the next (Cormack, Clarke and Büttcher, 2009)."""


def bm25(documents: Sequence[Document]) -> Search:
    """BM25 in Lucene's form, over small letters, without English stop words (bm25s)."""
    bm25s = _package("bm25s")
    model = bm25s.BM25(method="lucene")
    tokens = bm25s.tokenize(
        [each.content for each in documents], stopwords="en", show_progress=False
    )
    if not tokens.vocab:
        return lambda query, k: ()
    model.index(tokens, show_progress=False)

    def search(query: str, k: int) -> list[Hit]:
        words = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)
        if not words[0]:
            return []
        places, scores = model.retrieve(words, k=min(k, len(documents)), show_progress=False)
        ranked = sorted(zip(-scores[0], places[0], strict=True))
        # Without a word in common there is no reason to return a document.
        return [Hit(documents[place].id, float(-score)) for score, place in ranked if score < 0]

    return search


def dense(documents: Sequence[Document]) -> Search:
    """
    Cosine of static word vectors of 256 dimensions, without a network (WordLlama).

    They are small, and quick on any machine: a stand-in for an encoder, and no match for one.
    """
    numpy, wordllama = _package("numpy"), _package("wordllama")
    # Its own folder, where it finds what it ships instead of downloading it.
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def embedded(texts: list[str]) -> Any:
        vectors = model.embed(texts)
        return vectors / numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    corpus = embedded([each.content for each in documents])

    def search(query: str, k: int) -> list[Hit]:
        cosines = corpus @ embedded([query])[0]
        best = numpy.argsort(-cosines, kind="stable")[:k]
        return [Hit(documents[place].id, float(cosines[place])) for place in best]

    return search


BUILT_IN: Final[Mapping[str, Retriever]] = {"bm25": bm25, "dense": dense}


def fused(lists: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """
    Fuse lists by reciprocal rank: the sum, over the lists, of 1 / (60 + rank).

    Ties keep the order of the first list, then of the next. A document counts in each list where
    it stands first.
    """
    scores: dict[str, float] = {}
    for hits in lists:
        for rank, id_ in enumerate(dict.fromkeys(each.id for each in hits), start=1):
            scores[id_] = scores.get(id_, 0.0) + 1 / (RRF_K + rank)
    return [Hit(id_, score) for id_, score in sorted(scores.items(), key=lambda each: -each[1])][:k]


def load(spec: str) -> Retriever:
    """
    Import the retriever `module:function`; modules of the working directory are found.

    The function takes the corpus and returns a search; or it is a search itself, and takes a query
    and a number of documents.

    Raises:
        ConfigError: There is no such function, or it takes something else.
    """
    module, _, name = spec.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"arm {spec}: {error}") from None
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ConfigError(f"arm {spec}: {name} is no function") from None
    needed = [
        each
        for each in parameters
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    if len(needed) == 1:
        retriever: Retriever = function
        return retriever
    if len(needed) == 2:
        return lambda documents: function
    raise ConfigError(
        f"arm {spec}: {name} takes the corpus and returns a search, or takes a query and a number"
    )


def hits(found: Iterable[Any], arm: str) -> list[Hit]:
    """
    Read what a search returned.

    Raises:
        ConfigError: It is something else than documents.
    """
    read = [hit(item) for item in found]
    known = [each for each in read if each is not None]
    if len(known) < len(read):
        raise ConfigError(
            f"arm {arm}: a search returns ids, pairs of id and score, or objects with id and score"
        )
    return known


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"this retriever needs {error.name}: pip install 'seer-otel[harness]'"
        ) from None
