"""What a running evaluator says of itself, asked and shown."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import httpx
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from seer_otel.errors import ConfigError

_TIMEOUT_S = 5.0


def ask(endpoint: str) -> dict[str, Any]:
    """
    Return the status of the evaluator at a base URL.

    Raises:
        ConfigError: Nobody, or somebody else, answers there, or the key is not right.
    """
    url = (endpoint if "://" in endpoint else f"http://{endpoint}").rstrip("/") + "/status"
    key = os.environ.get("SEER_API_KEY")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.get(url, headers=headers, timeout=_TIMEOUT_S, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ConfigError(
            f"nobody answers at {endpoint} ({type(error).__name__}); "
            "give the HTTP address of the evaluator with --endpoint"
        ) from None
    if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        raise ConfigError(f"{endpoint} refuses the key: set SEER_API_KEY to one that it knows")
    try:
        page = answer.json()
    except ValueError:
        page = None
    if not isinstance(page, dict) or "parts" not in page:
        raise ConfigError(
            f"{endpoint} is no evaluator (HTTP {answer.status_code}); give another --endpoint"
        )
    return page


def render(page: Mapping[str, Any]) -> RenderableType:
    """Return a status for people."""
    hold, spans, rates = page["hold"], page["spans"], page["per_minute"]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("evaluator", f"{page['version']}, up for {_duration(page['uptime_s'])}")
    table.add_row("ready", _ready(page["ready"]))
    for part, said in page["parts"].items():
        table.add_row(part, Text(said, style="" if said == "ok" else "red"))
    share = hold["bytes"] / hold["max_bytes"]
    table.add_row(
        "on disk",
        f"{hold['retrievals_waiting']} retrieval(s) waiting, {hold['spans_queued']} span(s) and "
        f"{hold['carriers_queued']} carrier(s) queued; {_size(hold['bytes'])}, {share:.0%} of the "
        f"mark; the oldest for {_duration(hold['oldest_age_s'])}",
    )
    table.add_row("spans", _counts((name, count) for name, count in spans.items()))
    table.add_row(
        "a minute", _counts((name.removeprefix("seer."), rate) for name, rate in rates.items())
    )
    table.add_row("retrievals", _counts((_outcome(r), r["count"]) for r in page["retrievals"]))
    table.add_row("refused", _counts((r["reason"], r["count"]) for r in page["refused"]))
    calls = ((c.get("error_type", "answered"), c["count"]) for c in page["judge"]["calls"])
    table.add_row("judge", Text(f"{page['judge']['name']}; calls: {_counts(calls)}"))
    table.add_row("next hop", Text(page["next_hop"] or "off"))
    return Group(table)


def _ready(ready: bool) -> Text:
    return Text("yes", style="green") if ready else Text("no", style="red")


def _outcome(retrieval: Mapping[str, Any]) -> str:
    return " ".join(retrieval[key] for key in ("evaluated", "reason") if key in retrieval)


def _counts(counts: Iterable[tuple[str, float]]) -> str:
    totals: dict[str, float] = {}
    for name, count in counts:
        totals[name] = totals.get(name, 0) + count
    return ", ".join(f"{name} {count:g}" for name, count in totals.items()) or "–"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
