"""Curves over time as one SVG file, without a library to draw them."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, TOP = 1000, 180, 90, 40
COLOURS = ("#1b6ca8", "#c0392b", "#2e7d32", "#7d3c98")


def svg(
    title: str,
    times_s: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    marks: Mapping[float, str],
) -> str:
    """
    Draw each curve in a strip of its own, all over the same time.

    Args:
        title: Above everything.
        times_s: Of the points.
        curves: By name, with unit; a value for each time.
        marks: What happened when, drawn as upright lines.
    """
    last_s = max(times_s, default=1.0) or 1.0
    height = TOP + len(curves) * HEIGHT + 30

    def x(time_s: float) -> float:
        return LEFT + (WIDTH - LEFT - 20) * time_s / last_s

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="15">{escape(title)}</text>',
    ]
    for time_s, what in marks.items():
        parts.append(
            f'<line x1="{x(time_s):.1f}" x2="{x(time_s):.1f}" y1="{TOP}" y2="{height - 30}" '
            f'stroke="#ddd"><title>{escape(what)}</title></line>'
        )
    for number, (name, values) in enumerate(curves.items()):
        top, most = TOP + number * HEIGHT, max(values, default=1.0) or 1.0
        points = " ".join(
            f"{x(t):.1f},{top + HEIGHT - 30 - (HEIGHT - 50) * v / most:.1f}"
            for t, v in zip(times_s, values, strict=True)
        )
        colour = COLOURS[number % len(COLOURS)]
        base = top + HEIGHT - 30
        parts += [
            f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{base}" y2="{base}" stroke="#999"/>',
            f'<text x="{LEFT}" y="{top + 12}" fill="{colour}">{escape(name)}</text>',
            f'<text x="{LEFT - 8}" y="{top + 24}" text-anchor="end">{most:,.0f}</text>',
            f'<text x="{LEFT - 8}" y="{base}" text-anchor="end">0</text>',
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
        ]
    parts += [
        f'<text x="{x(share * last_s):.0f}" y="{height - 10}">{share * last_s:,.0f} s</text>'
        for share in (0.0, 0.25, 0.5, 0.75, 0.95)
    ]
    return "\n".join([*parts, "</svg>\n"])
