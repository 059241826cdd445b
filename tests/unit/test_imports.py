"""Imports run downwards only, and the application side stays small."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import seer_otel

SOURCE = Path(seer_otel.__file__).parent

FLOORS = (
    {"cli", "pytest"},
    {"demo"},
    {"evaluator", "harness", "instrument", "config"},
    {"judge", "dialects"},
    {"metrics", "sampling"},
    {"retrieval", "verdict", "semconv"},
    {"errors", "clock"},
)
"""From the top; a module may import from its own room and from floors below."""

ALLOWED_SIDEWAYS = {("evaluator", "config"), ("harness", "config")}

LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}

MEET_AT_HOLD = {"receive", "work", "forward"}
"""Rooms of the evaluator that never import each other."""


def room(module: str) -> str:
    return module.split(".")[1]


def imports() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        relative = path.relative_to(SOURCE.parent).with_suffix("")
        module = ".".join(relative.parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("seer_otel."):
                yield module, node.module or ""
            elif isinstance(node, ast.ImportFrom) and node.module == "seer_otel":
                yield from ((module, f"seer_otel.{alias.name}") for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from (
                    (module, alias.name)
                    for alias in node.names
                    if alias.name.startswith("seer_otel.")
                )


def test_imports_run_downwards() -> None:
    upwards = [
        (importer, imported)
        for importer, imported in imports()
        if importer not in ("seer_otel", "seer_otel.testing", "seer_otel.__main__")
        and room(imported) in LEVEL
        and room(importer) != room(imported)
        and LEVEL[room(imported)] <= LEVEL[room(importer)]
        and (room(importer), room(imported)) not in ALLOWED_SIDEWAYS
    ]

    assert upwards == []


def test_every_module_has_a_floor() -> None:
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}

    assert rooms - set(LEVEL) == {"__init__", "__main__", "testing"}


def test_receive_work_and_forward_meet_only_at_hold() -> None:
    def part(module: str) -> str:
        return module.split(".")[2] if module.startswith("seer_otel.evaluator.") else ""

    crossing = [
        (importer, imported)
        for importer, imported in imports()
        if part(importer) in MEET_AT_HOLD
        and part(imported) in MEET_AT_HOLD
        and part(importer) != part(imported)
    ]

    assert crossing == []


def test_an_application_imports_neither_grpc_nor_pydantic() -> None:
    code = (
        "import sys, seer_otel, seer_otel.instrument; "
        "print(sorted(m for m in ('grpc', 'pydantic', 'openai', 'starlette', 'click', 'rich') "
        "if m in sys.modules))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout

    assert output.strip() == "[]"
