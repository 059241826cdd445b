"""Whether the service lives and is ready: its parts register, and say how they are."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Health:
    """What `/readyz` tells. A part says None where all is well, else what is wrong."""

    parts: dict[str, Callable[[], str | None]] = field(default_factory=dict)

    def register(self, part: str, trouble: Callable[[], str | None]) -> None:
        """Name a part and how to ask it."""
        self.parts[part] = trouble

    @property
    def ready(self) -> bool:
        """Whether every part is well."""
        return all(trouble() is None for trouble in self.parts.values())

    def report(self) -> dict[str, str]:
        """For each part `ok`, or what is wrong."""
        return {name: trouble() or "ok" for name, trouble in self.parts.items()}
