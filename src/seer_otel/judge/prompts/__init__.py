"""
What a language model is told to do: two files, read as they are.

`requirements.txt` asks for the pieces of information that a query needs, `support.txt` which
passages support which of them. A folder of one's own may hold either or both. The revision of a
judge changes with them.
"""

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from seer_otel.errors import ConfigError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_OURS = files(__name__)

NAMED: Final = {
    "requirements": ('"requirements"', "JSON"),
    "support": ('"verdicts"', '"requirement"', '"passages"', '"unsure"', "JSON"),
}
"""The prompts, and what each must name: the reply is read by these words."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """Instructions for the two questions that a judge is asked."""

    requirements: str
    support: str


def load(folder: Path | None = None) -> Prompts:
    """
    Read the prompts; those that a folder has take the place of ours.

    Raises:
        ConfigError: There is no such folder, or it holds no prompt, or one that cannot be used.
    """
    if folder is not None and not any((folder / f"{name}.txt").is_file() for name in NAMED):
        files_ = " nor ".join(f"{name}.txt" for name in NAMED)
        raise ConfigError(f"judge.prompts: {folder} holds neither {files_}")
    return Prompts(**{name: _read(name, folder) for name in NAMED})


def revision(prompt: str) -> str:
    """Return a short text that changes with a prompt."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:12]


def _read(name: str, folder: Path | None) -> str:
    file: Path | Traversable = _OURS / f"{name}.txt"
    if folder is not None and (folder / file.name).is_file():
        file = folder / file.name
    try:
        prompt = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"judge.prompts: {file} cannot be read: {error}") from None
    lacking = ", ".join(word for word in NAMED[name] if word not in prompt)
    if lacking:
        raise ConfigError(
            f"judge.prompts: {file} must name {lacking}, or no reply can be read: compare "
            f"`seer-otel prompt show {name}`"
        )
    return prompt
