"""A unit as the forests see it."""

from dataclasses import dataclass

import numpy as np

from seer_otel.judge.local.needs import Need
from seer_otel.judge.local.relations import Relations
from training.data import Unit


@dataclass
class Sample:
    """A unit with the features of the first stage: one row a passage."""

    unit: Unit
    rows: np.ndarray
    need: Need
    relations: Relations

    @property
    def gold(self) -> np.ndarray:
        """Which passages are evidence."""
        return np.array(self.unit.gold)
