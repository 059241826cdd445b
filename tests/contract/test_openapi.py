"""The OpenAPI page is true: what it describes is taken, answered as it says, and all there is."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from seer_otel.evaluator.receive import openapi
from tests.service.conftest import Start

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
CONFIG = Path(__file__).with_name("schemathesis.toml")
EXAMPLES = 5

FIELDS = {
    "task", "subquery", "context", "is_final_context", "metadata", "ground_truth",
    "conversation_id", "expected_outcome", "trace_id", "span_id", "parent_span_id", "span_name",
    "created_at", "sample_rate", "record_id",
}  # fmt: skip


def references(tree: Any) -> set[str]:
    if isinstance(tree, list):
        return {found for item in tree for found in references(item)}
    if not isinstance(tree, dict):
        return set()
    own = {tree["$ref"]} if isinstance(tree.get("$ref"), str) else set()
    return own | {found for item in tree.values() for found in references(item)}


def test_the_fields_of_an_event() -> None:
    event = openapi.page()["components"]["schemas"]["Event"]

    assert FIELDS == set(event["properties"])
    assert ["context"] == event["required"]
    assert event["additionalProperties"] is False


def test_everything_that_is_referred_to_is_there() -> None:
    page = openapi.page()
    known = {f"#/components/schemas/{name}" for name in page["components"]["schemas"]}

    assert set() == references(page) - known


async def test_the_page_needs_no_key_and_what_it_describes_does(start: Start) -> None:
    service = await start(api_keys="secret")
    page = await service.http.get("/openapi.json")
    answers = {
        path: (await service.http.request(method.upper(), path)).status_code
        for path, methods in page.json()["paths"].items()
        for method in methods
    }

    assert openapi.page() == page.json()
    assert {
        "/v1/log": 401,
        "/v1/log/batch": 401,
        "/v1/evaluate": 401,
        "/v1/records/{record_id}": 401,
    } == answers


async def test_what_the_page_says_holds_for_any_input(start: Start, tmp_path: Path) -> None:
    """Thrown at the running service: bodies of the right shape, and of every wrong one."""
    service = await start(limits__request_bytes=1024 * 1024)
    process = await asyncio.create_subprocess_exec(
        SCHEMATHESIS, "--config-file", CONFIG, "run", "--phases", "coverage,fuzzing",
        "--max-examples", str(EXAMPLES), "--seed", "1", "--no-color",
        f"http://{service.listening.http}/openapi.json",
        cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await process.communicate()
    await service.stop()

    assert 0 == process.returncode, said.decode()
    service.assert_accounted()
