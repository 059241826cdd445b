"""A layout as text on a terminal, and as Markdown."""

import io
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from seer_otel.harness.ir.layout import Block, Note, Plot, Section
from seer_otel.harness.shown import shown

_BARS: Final = " ▁▂▃▄▅▆▇█"
_STYLES: Final = {"plain": "dim", "warning": "yellow", "finding": "bold"}
_MARKS: Final = {"plain": "", "warning": "**Warning.** ", "finding": "**Finding.** "}


def on_terminal(sections: Sequence[Section]) -> RenderableType:
    """Lay a report out for a terminal."""
    parts: list[RenderableType] = []
    for section in sections:
        parts.append(Text(f"\n{shown(section.title, 200)}", style="bold underline"))
        parts += [_on_terminal(block) for block in section.blocks]
    return Group(*parts)


def as_text(sections: Sequence[Section]) -> str:
    """Lay a report out as plain text."""
    console = Console(file=io.StringIO(), width=160)
    console.print(on_terminal(sections))
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def as_markdown(sections: Sequence[Section]) -> str:
    """Lay a report out as Markdown."""
    lines: list[str] = []
    for depth, section in enumerate(sections):
        lines += [f"{'#' if depth == 0 else '##'} {_escaped(section.title)}", ""]
        for block in section.blocks:
            lines += [*_in_markdown(block), ""]
    return "\n".join(lines)


def bars(counts: Sequence[int]) -> str:
    """Return counts as a line of bars; what is not 0 shows."""
    most = max(counts, default=0) or 1
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in counts)


def _on_terminal(block: Block) -> RenderableType:
    if isinstance(block, Note):
        return Text(shown(block.text, 1000), style=_STYLES[block.tone])
    if isinstance(block, Plot):
        return Text("\n".join(_plotted(block)))
    table = RichTable()
    for place, column in enumerate(block.columns):
        table.add_column(shown(column, 60), justify="right" if block.is_figure(place) else "left")
    for row in block.rows:
        table.add_row(*(Text(shown(cell, 100)) for cell in row))
    return table


def _in_markdown(block: Block) -> Iterator[str]:
    if isinstance(block, Note):
        yield f"{_MARKS[block.tone]}{_escaped(block.text)}"
    elif isinstance(block, Plot):
        yield from ("```text", *_plotted(block), "```")
    else:
        yield _row(block.columns)
        yield _row(["---:" if block.is_figure(n) else "---" for n in range(len(block.columns))])
        yield from map(_row, block.rows)


def _plotted(plot: Plot) -> Iterator[str]:
    places = len(plot.answerable)
    yield plot.title
    yield f"  answerable  {bars(plot.answerable)}  {sum(plot.answerable)}"
    yield f"  no answer   {bars(plot.unanswerable)}  {sum(plot.unanswerable)}"
    if plot.floor is not None:
        place = min(places - 1, int(plot.place(plot.floor) * places))
        yield f"              {' ' * place}^ floor {plot.floor:.4g}"
    ends = f"{plot.low:.4g}", f"{plot.high:.4g}"
    yield f"              {ends[0]}{' ' * max(1, places - len(ends[0]) - len(ends[1]))}{ends[1]}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(text: str) -> str:
    escaped = " ".join(text.split()).replace("\\", "\\\\")
    for character in "|*_<>`":
        escaped = escaped.replace(character, f"\\{character}")
    return escaped
