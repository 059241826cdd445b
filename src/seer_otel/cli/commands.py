"""The commands: what each takes. What they do is elsewhere, and imported when it is needed."""

import os
from pathlib import Path

import click

from seer_otel import __version__
from seer_otel.cli import NOT_ALL_WELL, OK
from seer_otel.cli.files import accuracy, evaluate
from seer_otel.cli.harness import compare, harness
from seer_otel.cli.keys import key
from seer_otel.cli.operations import resend, status
from seer_otel.cli.options import (
    INPUT,
    Format,
    config_option,
    examples,
    format_option,
    judge_option,
    print_as,
)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "seer-otel demo                              see it at work",
        "seer-otel inspect spans.json                what would be judged, and why not the rest",
        "seer-otel evaluate spans.json events.jsonl  judge files",
        "seer-otel serve --forward http://jaeger:4317",
    ),
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def seer_otel() -> None:
    """
    Score the retrieval steps of RAG and agent applications, inside OpenTelemetry.

    Exit codes: 0 done; 1 done, but something failed or was left out; 2 cannot be done; 130 Ctrl-C.
    """


@seer_otel.command(
    short_help="Receive OTLP, judge retrievals, forward every span.",
    epilog=examples(
        "seer-otel serve --forward http://jaeger:4317",
        "seer-otel serve --grpc 127.0.0.1:24317 --http 127.0.0.1:24318 \\",
        "    --forward http://127.0.0.1:14318 --forward-protocol http/protobuf",
        "SEER_JUDGE_MODEL=gpt-5-mini seer-otel serve --forward off --sample-rate 1",
    ),
)
@config_option
@click.option("--grpc", metavar="HOST:PORT|off", help="Receive OTLP/gRPC.  [127.0.0.1:4317]")
@click.option("--http", metavar="HOST:PORT|off", help="Receive OTLP/HTTP.  [127.0.0.1:4318]")
@click.option("--forward", metavar="URL|off", help="Where spans go next; off: keep records only.")
@click.option("--forward-protocol", type=click.Choice(["grpc", "http/protobuf"]))
@judge_option
@click.option(
    "--sample-rate", type=click.FloatRange(0, 1), metavar="R", help="Share of traces.  [0.1]"
)
@click.option("--hold", type=float, metavar="SECONDS", help="Longest wait for a verdict.  [30]")
@click.option(
    "--data-dir", type=click.Path(file_okay=False), metavar="DIR", help="What is held, on disk."
)
@click.option("--open", "is_open", is_flag=True, help="Let others come in without a key.")
def serve(
    file: Path | None,
    grpc: str | None,
    http: str | None,
    forward: str | None,
    forward_protocol: str | None,
    judge: str | None,
    sample_rate: float | None,
    hold: float | None,
    data_dir: str | None,
    is_open: bool,
) -> int:
    """
    Receive OTLP, judge retrievals, attach the scores, forward every span.

    Without --forward the next hop is that of OTEL_EXPORTER_OTLP_ENDPOINT. `seer-otel config` shows
    every setting.
    """
    flags = {
        "grpc": grpc,
        "http": http,
        "forward.url": forward,
        "forward.protocol": forward_protocol,
        "judge.kind": judge,
        "sample_rate": sample_rate,
        "hold.seconds": hold,
        "data_dir": data_dir,
        "open": is_open or None,
    }
    from seer_otel.config import load

    config = load(file, flags=flags)
    # gRPC would write a line for whatever a stranger sends; it looks when it is imported.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from seer_otel.evaluator import serving
    from seer_otel.evaluator.app import PartFailed

    try:
        serving.serve(config)
    except PartFailed as failure:
        click.echo(
            f"error: {failure}; what was accepted is on disk, and goes on at the next start",
            err=True,
        )
        return NOT_ALL_WELL
    return OK


@seer_otel.command(
    short_help="Show what would be judged of a file, and why not the rest.",
    epilog=examples(
        "seer-otel inspect spans.json",
        "kubectl logs collector | seer-otel inspect - --format json",
    ),
)
@click.argument("path", type=INPUT, metavar="FILE")
@config_option
@format_option
def inspect(path: str, file: Path | None, form: Format) -> int:
    """
    Show what is read from each retrieval span of FILE, and why others are not evaluated.

    FILE holds OTLP JSON, or a line of it each; - is the standard input. Nothing is judged or sent.
    """
    from seer_otel.config import load
    from seer_otel.dialects import with_tools
    from seer_otel.harness import inspect as inspection

    found = inspection.inspect(path, with_tools(load(file).tools))
    print_as(form, lambda: inspection.as_json(found), lambda: inspection.render(found))
    return NOT_ALL_WELL if found.bad_records else OK


@seer_otel.command(
    short_help="See it at work; or try a chain that is running.",
    epilog=examples(
        "seer-otel demo",
        "SEER_JUDGE_MODEL=gpt-5-mini seer-otel demo",
        "seer-otel demo --endpoint http://localhost:4317 --jaeger http://localhost:16686",
        "seer-otel demo --endpoint http://localhost:24318",
    ),
)
@click.option(
    "--endpoint", metavar="URL", help="Try a chain that runs: a Collector, the evaluator."
)
@click.option("--evaluator", metavar="URL", help="HTTP address of the evaluator in that chain.")
@click.option("--jaeger", metavar="URL", help="Where Jaeger answers queries in that chain.")
def demo(endpoint: str | None, evaluator: str | None, jaeger: str | None) -> int:
    """
    Run a small RAG application and show the scores of its retrievals.

    With --endpoint it sends one such trace through a chain that is running, and says where it
    stopped, if it did.
    """
    if endpoint is None and (evaluator or jaeger):
        raise click.UsageError("--evaluator and --jaeger go with --endpoint")
    if endpoint is not None:
        from seer_otel.demo import chain

        return OK if chain.check(endpoint, evaluator, jaeger) else NOT_ALL_WELL
    from seer_otel.demo import run

    run.run()
    return OK


@seer_otel.command(
    short_help="Print the settings in force.",
    epilog=examples("seer-otel config", "seer-otel config --config seer.yaml"),
)
@config_option
def config(file: Path | None) -> int:
    """Print the settings in force, as a file that --config takes; secrets are masked."""
    from seer_otel.cli.settings import in_force

    click.echo(in_force(file))
    return OK


@seer_otel.group(
    short_help="What a model is told to do.",
    epilog=examples("seer-otel prompt show support > prompts/support.txt"),
)
def prompt() -> None:
    """Print the instructions for models; judge.prompts names a folder with others."""


@prompt.command(
    short_help="Print the prompts, or one of them.",
    epilog=examples("seer-otel prompt show requirements", "seer-otel prompt show support"),
)
@click.argument("name", type=click.Choice(["requirements", "support"]), required=False)
@config_option
def show(name: str | None, file: Path | None) -> int:
    """
    Print the prompts in force: `requirements` of a query, `support` by passages; or one of them.

    Of one, the text alone is on the standard output; its revision is on the standard error.
    """
    from seer_otel.config import load
    from seer_otel.judge import prompts

    in_force = prompts.load(load(file).judge.prompts)
    for each in [name] if name else prompts.NAMED:
        text = getattr(in_force, each)
        click.echo(f"# {each}, revision {prompts.revision(text)}", err=name is not None)
        click.echo(text, nl=False)
    return OK


for command in (status, resend, evaluate, accuracy, harness, compare, key):
    seer_otel.add_command(command)
