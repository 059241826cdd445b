"""
The programs that the tests run against: built from Go modules, once, where they are missing.

`python -m e2e.peers` (with `tests` on the path) builds them ahead of the tests.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
COLLECTOR_CONFIG = REPOSITORY / "collector-config"
MANIFEST = COLLECTOR_CONFIG / "manifest.yaml"

COLLECTOR_BUILDER = "go.opentelemetry.io/collector/cmd/builder@v0.149.0"
JAEGER = "github.com/jaegertracing/jaeger/cmd/jaeger"
JAEGER_VERSION = "v1.76.0"
"""Of the Go module; the program calls itself 2.13."""


class PeersMissing(Exception):
    """A program is not built, and there is nothing here to build it with."""


class BuildFailed(Exception):
    """Go refused; carries the end of what it said."""


@dataclass(frozen=True)
class Peers:
    """Where the programs are."""

    collector: Path
    jaeger: Path


def peers() -> Peers:
    """
    Return the programs, after building those that are missing.

    A build under way in another process is waited for.

    Raises:
        PeersMissing: Something has to be built, and there is no Go.
        BuildFailed: Go could not build it.
    """
    folder = Path(os.environ.get("SEER_PEERS", REPOSITORY / ".peers"))
    manifest = hashlib.sha256(MANIFEST.read_bytes() + COLLECTOR_BUILDER.encode()).hexdigest()
    found = Peers(
        collector=folder / f"otelcol-seer-{manifest[:12]}",
        jaeger=folder / f"jaeger-{JAEGER_VERSION}",
    )
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder / "lock"):
        _provide(found.collector, _build_collector)
        _provide(found.jaeger, _build_jaeger)
    return found


def _provide(program: Path, build: Callable[[Path], Path]) -> None:
    if program.exists():
        return
    if shutil.which("go") is None:
        raise PeersMissing(
            f"{program} is not built and Go is not installed: "
            "install Go 1.25 or newer, then `make peers`"
        )
    print(f"building {program.name} (minutes with a cold Go cache)", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        build(Path(folder)).replace(program)


def _build_collector(folder: Path) -> Path:
    _go(folder, "run", COLLECTOR_BUILDER, "--config", str(MANIFEST))
    return folder / "otelcol-seer" / "otelcol-seer"


def _build_jaeger(folder: Path) -> Path:
    _go(folder, "mod", "init", "seer-otel/jaeger")
    _go(folder, "get", "-tool", f"{JAEGER}@{JAEGER_VERSION}")
    _go(folder, "build", "-o", "jaeger", JAEGER)
    return folder / "jaeger"


def _go(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["go", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise BuildFailed(f"go {' '.join(arguments)}\n{done.stdout[-4000:]}")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        built = peers()
    except (PeersMissing, BuildFailed) as error:
        sys.exit(f"peers: {error}")
    print(built.collector, built.jaeger, sep="\n")
