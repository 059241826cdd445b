"""
The page of instrumentations, put together from what each dialect says of those who write it.

    python -m seer_otel.dialects.reference > docs/instrumentations.md
"""

from collections.abc import Iterator
from typing import Final

from seer_otel.dialects.registry import DIALECTS
from seer_otel.dialects.tool import ToolDialect

_HEAD: Final = """\
# Instrumentations

Whose retrieval spans are read, in the order in which the dialects are asked: the first that knows
a span reads it. `seer-otel inspect FILE` shows what is read from a file of spans, and says of each
retrieval that would not be judged why, and what to do.

Everywhere: leave `OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT` and `OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT`
unset, for documents that were cut in the middle are not judged. Where an instrumentation does not
record what a judge needs, `seer.context` on the same span (and `seer.task`, `seer.subquery`) always
will do: see [concepts](concepts.md).

| instrumentation | dialect | for its retrievals to be judged | what it does not record |
|---|---|---|---|
"""

_FOOT: Final = """
<!-- Written by `python -m seer_otel.dialects.reference`: change the dialects, not this page. -->
"""


def page() -> str:
    """Return the page, as Markdown."""
    return f"{_HEAD}{''.join(_rows())}{_FOOT}"


def _rows() -> Iterator[str]:
    for dialect in (*DIALECTS, ToolDialect(())):
        for written_by in dialect.instrumentations:
            cells = (written_by.name, f"`{dialect.name}`", written_by.needs, written_by.lost)
            yield f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    print(page(), end="")
