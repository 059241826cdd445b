"""One folder, one process: a lock that goes with the process that holds it."""

import fcntl
import os
from pathlib import Path

from seer_otel.errors import ConfigError


def lock(folder: Path) -> int:
    """
    Take a folder for this process; return the descriptor that holds it.

    Raises:
        ConfigError: Another process uses it, or it cannot be written.
    """
    descriptor = None
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if descriptor is not None:
            os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise ConfigError(
                f"{folder} is in use by another evaluator; stop it, or give another --data-dir"
            ) from None
        raise ConfigError(
            f"{folder} cannot be used ({error.strerror}); give another --data-dir"
        ) from None
    return descriptor
