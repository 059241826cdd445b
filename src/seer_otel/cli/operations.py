"""The commands for those who operate the service."""

from pathlib import Path

import click

from seer_otel.cli import NOT_ALL_WELL, OK
from seer_otel.cli.options import Format, config_option, examples, format_option, print_as


@click.command(
    short_help="Show what a running evaluator is doing.",
    epilog=examples(
        "seer-otel status",
        "seer-otel status --endpoint http://evaluator:24318 --format json",
    ),
)
@click.option(
    "--endpoint",
    metavar="URL",
    default="http://127.0.0.1:4318",
    show_default=True,
    help="HTTP address of the evaluator.",
)
@format_option
def status(endpoint: str, form: Format) -> int:
    """
    Show queue, rates, reasons, judge and next hop of a running evaluator.

    Where it asks for a key, SEER_API_KEY holds it. Exit code 1: it is not ready.
    """
    from seer_otel.cli import status as running

    page = running.ask(endpoint)
    print_as(form, lambda: page, lambda: running.render(page))
    return OK if page["ready"] else NOT_ALL_WELL


@click.command(
    short_help="Send dead letters again.",
    epilog=examples(
        "seer-otel resend --forward http://jaeger:4317",
        "seer-otel resend --config seer.yaml --data-dir /var/lib/seer-otel --format json",
    ),
)
@config_option
@click.option(
    "--data-dir", type=click.Path(file_okay=False), metavar="DIR", help="Of the evaluator."
)
@click.option("--forward", metavar="URL", help="Where they go; else the configured next hop.")
@click.option("--forward-protocol", type=click.Choice(["grpc", "http/protobuf"]))
@click.option(
    "--partial", is_flag=True, help="Send requests, too, of which a part was taken: it comes twice."
)
@format_option
def resend(
    file: Path | None,
    data_dir: str | None,
    forward: str | None,
    forward_protocol: str | None,
    partial: bool,
    form: Format,
) -> int:
    """
    Send again what the next hop had refused for good: the dead letters of a data folder.

    Each that is taken is deleted. The evaluator may be running. Exit code 1: some are left.
    """
    from seer_otel.cli import letters
    from seer_otel.config import load

    flags = {
        "data_dir": data_dir,
        "forward.url": forward,
        "forward.protocol": forward_protocol,
    }
    resent = letters.resend_all(load(file, flags=flags), partial=partial)
    print_as(form, lambda: letters.as_json(resent), lambda: letters.render(resent))
    return OK if all(each.outcome == "sent" for each in resent) else NOT_ALL_WELL
