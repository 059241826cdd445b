"""
What the next hop will never take: kept in files, so that nothing is lost.

A letter is an export request, with the bytes that were refused, in a file named by what it holds.
The index tells why, a line of JSON each; what is no longer in the folder has been sent since.
"""

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from seer_otel.clock import Clock
from seer_otel.errors import StorageFailed

FOLDER: Final = "dead-letters"
"""Within the data folder."""
SUFFIX: Final = ".otlp.pb"
INDEX: Final = "index.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the index."""

    file: str
    spans: int
    """That were refused."""
    reason: str
    at: float
    """Wall clock, seconds since the epoch."""
    partial: bool = False
    """Whether the next hop took a part of the request, and did not say which."""


class DeadLetters:
    """A folder of letters, and its index."""

    def __init__(self, data_dir: Path, clock: Clock) -> None:
        self._folder = data_dir / FOLDER
        self._clock = clock

    async def keep(self, request: bytes, spans: int, reason: str, *, partial: bool = False) -> None:
        """
        Write a request to disk; the same request twice is one file.

        Raises:
            StorageFailed: The disk refused the write.
        """
        name = f"{sha256(request).hexdigest()[:32]}{SUFFIX}"
        entry = Entry(name, spans, reason, self._clock.now(), partial)
        try:
            await asyncio.to_thread(self._write, request, entry)
        except OSError as error:
            raise StorageFailed(f"a dead letter could not be written: {error.strerror}") from None

    def _write(self, request: bytes, entry: Entry) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        half_written = self._folder / f"{entry.file}.part"
        _append(half_written, request, "wb")
        _append(self._folder / INDEX, json.dumps(asdict(entry)).encode() + b"\n", "ab")
        half_written.replace(self._folder / entry.file)  # whoever sees it sees all of it
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def letters(data_dir: Path) -> Iterator[tuple[Path, Entry | None]]:
    """Yield the letters of a data folder in the order of their index, with what that says."""
    folder = data_dir / FOLDER
    told: dict[str, Entry] = {}
    index = folder / INDEX
    for line in index.read_bytes().splitlines() if index.exists() else ():
        try:
            entry = Entry(**json.loads(line))
        except (ValueError, TypeError):
            continue  # cut short by a crash; the letter itself is whole
        told[entry.file] = entry
    files = {path.name: path for path in sorted(folder.glob(f"*{SUFFIX}"))}
    for name in dict.fromkeys((*(n for n in told if n in files), *files)):
        yield files[name], told.get(name)


def _append(file: Path, content: bytes, mode: str) -> None:
    with file.open(mode) as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
