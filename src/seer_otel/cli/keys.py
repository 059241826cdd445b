"""`seer-otel key`: make the key that clients show, and the hash that the evaluator knows it by."""

import hashlib
import secrets
import sys

import click

from seer_otel.cli import OK
from seer_otel.cli.options import examples


@click.command(
    short_help="Make a key for clients, and its hash.",
    epilog=examples(
        "seer-otel key                        the key; its hash is on the standard error",
        "SEER_API_KEY=$(seer-otel key)",
        "seer-otel key --hash < key.txt       the hash of a key that there is",
    ),
)
@click.option(
    "--hash", "only_hash", is_flag=True, help="Read a key from the standard input; print its hash."
)
def key(only_hash: bool) -> int:
    """
    Print a new key of 256 random bits.

    Clients show the key (SEER_API_KEY). The evaluator takes it, or its hash, in SEER_API_KEY, in
    api_keys, or in a line of api_keys_file. The hash of a key like this gives nothing away; that of
    a short one that somebody thought up does.
    """
    if only_hash:
        given = sys.stdin.read().strip()
        if not given or not given.isprintable():
            raise click.UsageError("there is no key on the standard input")
        click.echo(_hash(given))
        return OK
    made = f"seer_{secrets.token_urlsafe(32)}"
    click.echo(made)
    click.echo(f"hash: {_hash(made)}", err=True)
    return OK


def _hash(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
