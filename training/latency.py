"""How long the judge takes: `python -m training.latency`, ten and fifty passages, one core."""

import asyncio
import resource
import statistics
import time

from seer_otel.judge.local import LocalJudge
from seer_otel.judge.protocol import Asked, Question
from training.data import VALIDATION, rows

CHARACTERS = 600
ROUNDS = 40


def main() -> None:
    """Judge real questions over passages of others, cut to a length."""
    start = time.perf_counter()
    judge = LocalJudge()
    print(f"loaded in {time.perf_counter() - start:.3f} s")
    questions = rows(next(iter(VALIDATION)))
    texts = list({item["text"] for row in questions for item in row["context"]})
    long = [(text + " " + texts[place - 1])[:CHARACTERS] for place, text in enumerate(texts)]
    for size in (10, 50):
        seconds = []
        for turn in range(ROUNDS):
            task = questions[turn % len(questions)]["task"]
            shift = turn * 7 % len(long)
            passages = dict(enumerate([*long[shift:], *long[:shift]][:size], 1))
            start = time.perf_counter()
            found = asyncio.run(judge.requirements(task)).texts
            asked = Asked("task", task, dict(enumerate(found, 1)))
            asyncio.run(judge.support(Question((asked,), passages)))
            seconds.append(time.perf_counter() - start)
        middle, high = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
        print(f"{size} passages: median {1000 * middle:.0f} ms, p95 {1000 * high:.0f} ms")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


if __name__ == "__main__":
    main()
