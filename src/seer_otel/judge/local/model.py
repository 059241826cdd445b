"""The trained part of the local judge: its forests, and the numbers that decisions rest on."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Self

from seer_otel.judge.local.features import measure
from seer_otel.judge.local.links import link, standing
from seer_otel.judge.local.needs import Need
from seer_otel.judge.local.relations import Columns, Relations, logit
from seer_otel.judge.local.trees import Forest, sigmoid


@dataclass(frozen=True, slots=True)
class Model:
    """What `training` fits, and this package ships as `model.json`."""

    first: Forest
    second: Forest
    union: tuple[float, float, float]
    """
    What makes one estimate out of several, for a query of more than one requirement: a constant,
    the share of the log odds for the query as a whole, and of those for the requirement that
    suits best.
    """
    reluctance: float
    """How much better than citing something it must be to cite nothing, see `evidence.choose`."""
    doubt: float
    """Below this expected F1 of the choice, the judge is unsure."""
    scripts: frozenset[str]
    """The scripts of the texts that it has learnt from, see `words.script`."""
    fingerprint: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a model as `training` writes it."""
        data = json.loads(text)
        constant, whole, best = data["union"]
        return cls(
            Forest.read(data["first"]),
            Forest.read(data["second"]),
            (constant, whole, best),
            data["reluctance"],
            data["doubt"],
            frozenset(data["scripts"]),
            hashlib.sha256(text.encode()).hexdigest()[:8],
        )

    def likelihood(self, need: Need, relations: Relations) -> list[float]:
        """Return for each passage the probability that it supports a requirement."""
        found = measure(need, relations)
        columns: Columns = found.columns | link(need, relations, found.guess, "guess")
        first = self.first.likelihood(columns)
        columns |= link(need, relations, first, "first") | standing(first, relations, need)
        return self.second.likelihood(columns)

    def united(self, whole: list[float], parts: list[list[float]]) -> list[float]:
        """Return for each passage the probability that it supports anything in a query."""
        constant, of_whole, of_best = self.union
        return [
            sigmoid(constant + of_whole * logit(w) + of_best * logit(max(each)))
            for w, *each in zip(whole, *parts, strict=True)
        ]


@cache
def shipped() -> Model:
    """Return the model that comes with the package."""
    return Model.read(files("seer_otel.judge.local").joinpath("model.json").read_text("utf-8"))
