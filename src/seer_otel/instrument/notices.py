"""What went wrong, said once: an application's log is no place for a flood of ours."""

import logging

_logger = logging.getLogger(__name__)
_said: set[tuple[str, ...]] = set()


def warn_once(message: str, *arguments: str) -> None:
    """Log a warning, unless the process has logged the same one. Never pass content."""
    if (message, *arguments) not in _said:
        _said.add((message, *arguments))
        _logger.warning(message, *arguments)
