"""Whether the service lives, and is ready: its parts register, and say how they are."""

from collections.abc import Callable
from dataclasses import dataclass, field

from seer_otel.clock import Clock

Trouble = Callable[[], str | None]
"""None where all is well, else what is wrong."""

MARGIN_S = 30.0
"""Seconds that a part may be late with its sign of life."""


class Pulse:
    """The sign of life of a part that works in the background."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.beat()

    def beat(self, again_within_s: float = 0.0) -> None:
        """Say that the part lives, and how long its next step may take."""
        self._due_s = self._clock.monotonic() + again_within_s + MARGIN_S

    def trouble(self) -> str | None:
        """Say how long the next sign of life has been due."""
        late_s = self._clock.monotonic() - self._due_s
        return f"gives no sign of life (due {late_s:.0f} s ago)" if late_s > 0 else None


@dataclass(slots=True)
class Health:
    """What `/healthz` and `/readyz` tell."""

    clock: Clock
    living: dict[str, Trouble] = field(default_factory=dict)
    readiness: dict[str, Trouble] = field(default_factory=dict)

    def register(self, part: str, trouble: Trouble) -> None:
        """Name a part that may be unwell, and heal, and how to ask it."""
        self.readiness[part] = trouble

    def register_living(self, part: str, trouble: Trouble) -> None:
        """Name a part without which the process is of no use, and how to ask whether it works."""
        self.living[part] = trouble

    def pulse(self, part: str) -> Pulse:
        """Return the pulse of a part, on which its life depends from now on."""
        pulse = Pulse(self.clock)
        self.register_living(part, pulse.trouble)
        return pulse

    @property
    def alive(self) -> bool:
        """Whether every part that works in the background gives signs of life."""
        return all(trouble() is None for trouble in self.living.values())

    @property
    def ready(self) -> bool:
        """Whether every part is alive, and well."""
        return self.alive and all(trouble() is None for trouble in self.readiness.values())

    def life(self) -> dict[str, str]:
        """For each part that works in the background `ok`, or what is wrong."""
        return _told(self.living)

    def report(self) -> dict[str, str]:
        """For each part `ok`, or what is wrong; parts that give no sign of life among them."""
        silent = {name: trouble for name, trouble in self.living.items() if trouble()}
        return _told({**self.readiness, **silent})


def _told(parts: dict[str, Trouble]) -> dict[str, str]:
    return {name: trouble() or "ok" for name, trouble in parts.items()}
