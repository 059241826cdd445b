"""Where ours and trec_eval's measures are the same, so are the numbers."""

import random

import ir_measures
import pytest
from ir_measures import RR, Qrel, R, ScoredDoc, Success

from seer_otel.metrics import ranked

K = 10
QUERIES = [f"q{n}" for n in range(40)]
DOCUMENTS = [f"d{n:02}" for n in range(60)]


@pytest.mark.parametrize("seed", range(5))
def test_the_same_lists_have_the_same_scores(seed: int) -> None:
    draw = random.Random(seed)
    right = {query: draw.sample(DOCUMENTS, draw.randint(1, 15)) for query in QUERIES}
    runs = {query: draw.sample(DOCUMENTS, draw.randint(1, 40)) for query in QUERIES}
    theirs = {
        (each.query_id, each.measure): each.value
        for each in ir_measures.iter_calc(
            [R @ K, RR, Success @ K],
            [Qrel(query, id_, 1) for query, ids in right.items() for id_ in ids],
            [
                ScoredDoc(query, id_, -float(place))
                for query, ids in runs.items()
                for place, id_ in enumerate(ids)
            ],
        )
    }
    ours: dict[tuple[str, object], float] = {}
    for query in QUERIES:
        scores = ranked.score(runs[query], right[query], K)
        ours |= {(query, R @ K): scores.recall, (query, RR): scores.rr}
        ours[query, Success @ K] = scores.hit

    assert theirs == pytest.approx(ours, abs=1e-9)
