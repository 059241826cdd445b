"""How much of the disk is left: the last of it belongs to what leaves, which makes room."""

import shutil
from pathlib import Path
from typing import Final

RESERVE_BYTES: Final = 16 * 1024 * 1024
"""Left free of what arrives; of a small disk an eighth."""


def shortage(folder: Path, spare_bytes: int = 0) -> str | None:
    """
    Return what is wrong where there is no room for what arrives.

    Args:
        folder: Where it is kept.
        spare_bytes: Free within the files that are there already.
    """
    try:
        total, _, free = shutil.disk_usage(folder)
    except OSError as error:
        return f"the disk cannot be asked ({error.strerror})"
    if free + spare_bytes >= min(RESERVE_BYTES, total // 8):
        return None
    return f"the disk is full ({free // 1024} KiB left in {folder})"
