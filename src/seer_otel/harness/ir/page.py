"""A layout as one HTML page that needs nothing beside itself."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from seer_otel.harness.ir.layout import Block, Note, Plot, Section

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --one: #2a78d6; --other: #d9642c; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .8rem 0; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right; }
th { font-weight: 600; background: var(--soft); } td { white-space: nowrap; }
.words { text-align: left; white-space: normal; }
.warning { border-left: 4px solid #d9a02c; padding-left: .7rem; }
.finding { border-left: 4px solid var(--one); padding-left: .7rem; font-weight: 600; }
figure { margin: 1rem 0; } figcaption { font-weight: 600; } svg { max-width: 100%; height: auto; }
text { font: 12px system-ui, sans-serif; fill: currentColor; }
""".strip()

_WIDTH: Final = 640
_HALF: Final = 70
"""Height of the bars of one distribution; the other hangs below the axis."""
_MARGIN: Final = 20


def as_html(sections: Sequence[Section]) -> str:
    """Lay a report out as a page without scripts, fonts or pictures from elsewhere."""
    title = escape(sections[0].title)
    parts = [
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title} – retrieval harness</title>",
        f"<style>\n{_STYLE}\n</style>",
    ]
    for depth, section in enumerate(sections):
        level = 1 if depth == 0 else 2
        parts.append(f"<h{level}>{escape(section.title)}</h{level}>")
        parts += map(_block, section.blocks)
    return "\n".join([*parts, "</html>", ""])


def _block(block: Block) -> str:
    if isinstance(block, Note):
        return f'<p class="{block.tone}">{escape(block.text)}</p>'
    if isinstance(block, Plot):
        return _figure(block)
    kinds = ["" if block.is_figure(n) else ' class="words"' for n in range(len(block.columns))]
    head, *rows = (
        "".join(
            f"<{tag}{kind}>{escape(cell)}</{tag}>" for cell, kind in zip(row, kinds, strict=True)
        )
        for tag, row in [("th", block.columns), *(("td", row) for row in block.rows)]
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n{body}\n</table></div>'


def _figure(plot: Plot) -> str:
    """Draw the answerable queries upwards and the others downwards, each to its own scale."""
    height = 2 * _HALF + 2 * _MARGIN
    axis = _HALF + _MARGIN
    caption = escape(plot.title)
    shapes = [
        *_bars(plot.answerable, axis, "var(--one)", up=True),
        *_bars(plot.unanswerable, axis, "var(--other)", up=False),
        f'<line x1="0" x2="{_WIDTH}" y1="{axis}" y2="{axis}" stroke="currentColor"/>',
        f'<text x="0" y="{height - 4}">{plot.low:.4g}</text>',
        f'<text x="{_WIDTH}" y="{height - 4}" text-anchor="end">{plot.high:.4g}</text>',
    ]
    if plot.floor is not None:
        x = plot.place(plot.floor) * _WIDTH
        side = "end" if x > _WIDTH / 2 else "start"
        shapes.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_MARGIN - 4}" y2="{height - _MARGIN}" '
            'stroke="currentColor" stroke-dasharray="4 3"/>'
        )
        shapes.append(
            f'<text x="{x:.1f}" y="12" text-anchor="{side}">floor {plot.floor:.4g}</text>'
        )
    key = (
        f'<span style="color:var(--one)">■</span> answerable ({sum(plot.answerable)}) '
        f'<span style="color:var(--other)">■</span> without answer ({sum(plot.unanswerable)})'
    )
    return (
        f"<figure>\n<figcaption>{caption}</figcaption>\n"
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img" '
        f'aria-label="{caption}">\n' + "\n".join(shapes) + f"\n</svg>\n<div>{key}</div>\n</figure>"
    )


def _bars(counts: Sequence[int], axis: int, colour: str, *, up: bool) -> Iterator[str]:
    most = max(counts, default=0)
    width = _WIDTH / max(1, len(counts))
    for place, count in enumerate(counts):
        if count:
            tall = _HALF * count / most
            top = axis - tall if up else axis
            yield (
                f'<rect x="{place * width + 1:.1f}" y="{top:.1f}" width="{width - 2:.1f}" '
                f'height="{tall:.1f}" fill="{colour}"><title>{count}</title></rect>'
            )
