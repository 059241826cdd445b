"""Dead letters, sent again, and shown."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from seer_otel.config import Config
from seer_otel.errors import ConfigError
from seer_otel.evaluator.forward.next_hop import connect
from seer_otel.evaluator.forward.resend import Resent, resend

_MEANING = {
    "sent": "sent",
    "refused": "refused again, and kept",
    "waits": "kept: the next hop does not take spans now",
    "partial": "kept: a part was taken before (--partial sends all of it)",
}


def resend_all(config: Config, *, partial: bool) -> list[Resent]:
    """
    Send all dead letters of the configured data folder.

    Raises:
        ConfigError: There is nowhere to send them.
    """
    forward = config.forward
    if forward is None or not forward.url:
        raise ConfigError("no next hop: give --forward URL, or the configuration of the evaluator")

    async def send() -> list[Resent]:
        next_hop = connect(forward)
        try:
            return [each async for each in resend(config.data_dir, next_hop, partial=partial)]
        finally:
            await next_hop.aclose()

    return asyncio.run(send())


def as_json(resent: Sequence[Resent]) -> dict[str, Any]:
    """Return what became of each letter, and how many spans fared how."""
    return {"spans": _spans(resent), "letters": [asdict(each) for each in resent]}


def render(resent: Sequence[Resent]) -> RenderableType:
    """Return what became of each letter, as a table."""
    if not resent:
        return Text("no dead letters")
    table = Table(box=None, pad_edge=False)
    for column in ("letter", "spans", "outcome", "reason"):
        table.add_column(column, overflow="fold", justify="right" if column == "spans" else "left")
    for each in resent:
        table.add_row(each.file, str(each.spans), Text(_MEANING[each.outcome]), Text(each.reason))
    totals = (f"{count} {outcome}" for outcome, count in _spans(resent).items())
    return Group(table, Text(f"spans: {', '.join(totals)}"))


def _spans(resent: Sequence[Resent]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for each in resent:
        totals[each.outcome] += each.spans
    return totals
