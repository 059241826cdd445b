"""What the commands share: options, and how a result is printed."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

Format = Literal["table", "json"]

FILE: Final = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
FOLDER: Final = click.Path(exists=True, file_okay=False, readable=True, path_type=Path)
INPUT: Final = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True)
OUTPUT: Final = click.Path(dir_okay=False, writable=True, path_type=Path)

config_option = click.option(
    "--config", "file", type=FILE, metavar="FILE", help="Settings in YAML."
)
judge_option = click.option(
    "--judge",
    metavar="auto|local|openai|replay:FILE",
    help="Who judges. auto: the model of SEER_JUDGE_MODEL, else local, without a network.",
)
runs_option = click.option(
    "--runs", type=click.IntRange(1), metavar="N", help="Judge everything N times: means, spread."
)
format_option = click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True
)


def examples(*lines: str) -> str:
    """Return an epilog that keeps its lines."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def print_as(
    form: Format, as_json: Callable[[], Any], render: Callable[[], "RenderableType"]
) -> None:
    """Print a result, as a table or as JSON."""
    if form == "json":
        click.echo(json_text(as_json()))
        return
    from rich.console import Console

    # A file or a pipe has no width: rather long lines than cut ones.
    Console(width=None if sys.stdout.isatty() else 160).print(render())


def json_text(value: Any) -> str:
    """Return a result as JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
