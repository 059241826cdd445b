"""The features of every unit, measured by the product's own code and kept on disk."""

import argparse
import hashlib
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import seer_otel.judge.local as product
from seer_otel.judge.local.features import measure
from seer_otel.judge.local.links import link
from seer_otel.judge.local.needs import Need, read_needs
from seer_otel.judge.local.reading import Context
from seer_otel.judge.local.relations import Relations
from training.data import SOURCES, VALIDATION, Unit, altered, units
from training.sample import Sample

WORK = Path(os.environ.get("SEER_TRAINING_WORK", ".training"))
"""Where what takes long is kept, so that a run that was stopped goes on."""

CODE = (
    *(
        "words",
        "vocabulary",
        "patterns",
        "reading",
        "needs",
        "commonness",
        "relations",
        "features",
        "links",
    ),
    *("requirements", "parts"),
)


def first_columns(unit: Unit) -> tuple[dict[str, list[float]], Need, Relations]:
    """Measure a unit as the product does before its first forest."""
    relations = Relations(Context(dict(enumerate(unit.passages, 1))))
    need = read_needs(unit.query, (unit.requirement,), relations.context)[0]
    found = measure(need, relations)
    return found.columns | link(need, relations, found.guess, "guess"), need, relations


def samples(source: str) -> list[Sample]:
    """Return the samples of a source, altered ones included, measured now or before."""
    path = WORK / f"{source}-{_version()}.pickle"
    if not path.exists():
        WORK.mkdir(exist_ok=True)
        found = units(source)
        found += [other for unit in found for other in altered(unit)]
        made = [_sample(unit) for unit in found]
        path.with_suffix(".part").write_bytes(pickle.dumps(made))
        path.with_suffix(".part").rename(path)
    return pickle.loads(path.read_bytes())


def _sample(unit: Unit) -> Sample:
    columns, need, relations = first_columns(unit)
    return Sample(unit, np.array(list(columns.values()), np.float32).T, need, relations)


def first_names() -> list[str]:
    """Return the names of the first stage's columns."""
    unit = Unit("", "", "who", "who", ("a", "b"), (True, False), "task")
    return list(first_columns(unit)[0])


def _version() -> str:
    """Return a short text that changes with the code that measures."""
    folder = Path(product.__file__).parent
    texts = [(folder / f"{name}.py").read_bytes() for name in CODE]
    texts.append((Path(__file__).parent / "data.py").read_bytes())
    return hashlib.sha256(b"".join(texts)).hexdigest()[:8]


def _count(source: str) -> str:
    return f"{source}: {len(samples(source))} samples"


def main() -> None:
    """Measure all sources, two at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        for line in pool.map(_count, [*SOURCES, *VALIDATION]):
            print(line, flush=True)


if __name__ == "__main__":
    main()
