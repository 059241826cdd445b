"""Frozen evaluation sets: what the files were when they were frozen, and what they are now."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from seer_otel.errors import ConfigError
from seer_otel.harness.ir import eval_set

LOCK: Final = "harness.lock.json"


@dataclass(frozen=True, slots=True)
class State:
    """Whether an evaluation set is what it was."""

    digest: str
    """A short text that changes with every byte of the files."""
    frozen: bool
    """Whether it was ever frozen."""
    changed: tuple[str, ...] = ()
    """The files that are not what they were, or came, or went since."""


def state(folder: Path) -> State:
    """
    Compare the files of an evaluation set with its lock.

    Raises:
        ConfigError: A file, or the lock, cannot be read.
    """
    now = _digests(folder)
    digest = hashlib.sha256(json.dumps(now, sort_keys=True).encode()).hexdigest()[:12]
    lock = folder / LOCK
    if not lock.is_file():
        return State(digest, frozen=False)
    then = _read(lock)
    changed = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    return State(digest, frozen=True, changed=tuple(changed))


def freeze(folder: Path) -> State:
    """
    Write down what the files are now; return what was known of them before.

    Raises:
        ConfigError: A file cannot be read, or the lock cannot be written.
    """
    before = state(folder)
    text = json.dumps({"files": _digests(folder)}, indent=1, sort_keys=True)
    try:
        (folder / LOCK).write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{folder / LOCK}: cannot be written: {error.strerror}") from None
    return before


def _digests(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): _sha256(path) for path in eval_set.files(folder)}


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def _read(lock: Path) -> Mapping[str, object]:
    try:
        files = json.loads(lock.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        files = None
    if not isinstance(files, dict):
        raise ConfigError(f"{lock}: is no lock; `seer-otel harness freeze` writes a new one")
    return files
