"""What the next hop will never take: kept in files, so that nothing is lost."""

import asyncio
import json
import os
from hashlib import sha256
from pathlib import Path

from seer_otel.clock import Clock
from seer_otel.errors import StorageFailed


class DeadLetters:
    """A folder of export requests, one file each, and an index of reasons."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    async def keep(self, request: bytes, spans: int, reason: str) -> None:
        """
        Write a request to disk; the same request twice is one file.

        Raises:
            StorageFailed: The disk refused the write.
        """
        try:
            await asyncio.to_thread(self._write, request, spans, reason)
        except OSError as error:
            raise StorageFailed(f"a dead letter could not be written: {error.strerror}") from None

    def _write(self, request: bytes, spans: int, reason: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = f"{sha256(request).hexdigest()[:32]}.otlp.pb"
        entry = {"file": name, "spans": spans, "reason": reason, "at": self._clock.now()}
        for file, content, mode in (
            (self._folder / name, request, "wb"),
            (self._folder / "index.jsonl", json.dumps(entry).encode() + b"\n", "ab"),
        ):
            with file.open(mode) as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
