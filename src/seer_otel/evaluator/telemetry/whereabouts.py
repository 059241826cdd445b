"""Say of an unexpected error where it was raised, and never what it says: that may hold content."""

import traceback
from pathlib import Path
from typing import Final

_FRAMES: Final = 4


def whereabouts(error: BaseException) -> str:
    """Return the class of an error, and the innermost places that it came through."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames)]
    return f"{type(error).__name__} at {' < '.join(places)}" if places else type(error).__name__
