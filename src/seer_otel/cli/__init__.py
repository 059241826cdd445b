"""The command line."""

import sys
from collections.abc import Sequence

from seer_otel.errors import ConfigError

OK, NOT_ALL_WELL, CANNOT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: done; done, but something failed or was left out; not done; Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run one command and return its exit code.

    Args:
        arguments: Those after the program's name; those of this process unless given.
    """
    try:
        import click

        from seer_otel.cli.commands import seer_otel
    except ModuleNotFoundError as error:
        return _missing(error)
    try:
        code = seer_otel.main(arguments, prog_name="seer-otel", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return CANNOT
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "seer-otel"
        return _cannot(f"{error.format_message()} (see: {command} --help)")
    except click.ClickException as error:
        return _cannot(error.format_message())
    except ConfigError as error:
        return _cannot(str(error))
    except ModuleNotFoundError as error:
        return _missing(error)
    except OSError as error:
        return _cannot(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    return code if isinstance(code, int) else OK


def _missing(error: ModuleNotFoundError) -> int:
    if (error.name or "").partition(".")[0] == "seer_otel":
        raise error
    return _cannot(f"this needs {error.name}: pip install 'seer-otel[evaluator]'")


def _cannot(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return CANNOT
