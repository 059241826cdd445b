"""Texts are looked up by their ids at one endpoint, and a failure is none."""

import asyncio
import json
import logging
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from seer_otel.evaluator.work.resolver import Resolver
from tests.service.texts import Texts, texts

KNOWN = {"a": "A text.", "b": "B text.", "c": "C text."}


@pytest.fixture
def endpoint() -> Iterator[Texts]:
    with texts(KNOWN) as running:
        yield running


@pytest.fixture
async def open_resolver(endpoint: Texts) -> AsyncIterator[Any]:
    async with AsyncExitStack() as stack:

        def begin(**settings: Any) -> Resolver:
            resolver = Resolver(endpoint.url, **settings)
            stack.push_async_callback(resolver.aclose)
            return resolver

        yield begin


async def test_texts_come_by_id_and_unknown_ones_are_left_out(
    open_resolver: Any, endpoint: Texts
) -> None:
    found = await open_resolver()(["a", "x", "b"])

    assert {"a": "A text.", "b": "B text."} == found
    assert [["a", "x", "b"]] == endpoint.asked


async def test_ids_go_in_batches(open_resolver: Any, endpoint: Texts) -> None:
    found = await open_resolver(batch=2)(["a", "b", "c", "a"])

    assert found == KNOWN
    assert [["a", "b"], ["c"]] == endpoint.asked


async def test_what_was_had_lately_is_not_asked_for_again(
    open_resolver: Any, endpoint: Texts
) -> None:
    resolver = open_resolver()
    await resolver(["a", "b"])

    assert {"a": "A text.", "c": "C text."} == await resolver(["a", "c"])
    assert [["a", "b"], ["c"]] == endpoint.asked


async def test_the_memory_is_bounded_and_the_longest_unused_goes_first(
    open_resolver: Any, endpoint: Texts
) -> None:
    resolver = open_resolver(cache=2 * len("A text."))
    await resolver(["a", "b"])
    await resolver(["a"])
    await resolver(["c"])
    endpoint.asked.clear()

    assert {"a", "c"} == set(await resolver(["a", "c"]))
    assert [] == endpoint.asked
    assert {"b": "B text."} == await resolver(["b"])
    assert [["b"]] == endpoint.asked


async def test_the_headers_are_sent(open_resolver: Any, endpoint: Texts) -> None:
    await open_resolver(headers={"authorization": "Bearer key"})(["a"])

    assert "Bearer key" == endpoint.headers[0]["authorization"]


@pytest.mark.parametrize("status", [302, 401, 404, 500])
async def test_a_refusal_and_a_redirect_are_no_texts(
    open_resolver: Any, endpoint: Texts, status: int
) -> None:
    endpoint.status = status
    resolver = open_resolver()

    assert {} == await resolver(["a"])
    assert f"HTTP {status}" in resolver.trouble
    assert 1 == len(endpoint.asked)


@pytest.mark.parametrize(
    "body",
    [b"", b"no JSON", b"[]", b"{}", b'{"texts": ["a"]}', b'{"texts": {"a": {"text": "A"}}}'],
)
async def test_an_answer_of_another_shape_is_no_texts(
    open_resolver: Any, endpoint: Texts, body: bytes
) -> None:
    endpoint.body = body

    assert {} == await open_resolver()(["a"])


async def test_texts_that_were_not_asked_for_are_passed_over(
    open_resolver: Any, endpoint: Texts
) -> None:
    endpoint.body = json.dumps({"texts": {"a": "A text.", "z": "Z text."}}).encode()

    assert {"a": "A text."} == await open_resolver()(["a"])


async def test_an_endpoint_that_hangs_costs_the_timeout(
    open_resolver: Any, endpoint: Texts
) -> None:
    endpoint.may_answer.clear()

    assert {} == await open_resolver(timeout_s=0.05)(["a"])


async def test_a_look_up_that_fails_half_way_is_no_texts(
    open_resolver: Any, endpoint: Texts
) -> None:
    resolver = open_resolver(batch=1)
    await resolver(["a"])
    endpoint.status = 500

    assert {} == await resolver(["a", "b"])


async def test_an_endpoint_that_is_away_is_said_once_and_so_is_its_return(
    open_resolver: Any, endpoint: Texts, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "seer_otel")
    resolver = open_resolver()
    endpoint.status = 503
    await resolver(["a"])
    await resolver(["a"])
    endpoint.status = 200
    await resolver(["a"])

    ours = [record.levelname for record in caplog.records if record.name.startswith("seer_otel")]
    assert ["WARNING", "INFO"] == ours
    assert resolver.trouble is None
    assert "A text." not in caplog.text


async def test_the_endpoint_shown_in_the_documents_answers(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "resolver.md").read_text()
    script = tmp_path / "texts.py"
    script.write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[-1])
    server = await asyncio.create_subprocess_exec(
        sys.executable, script, "0", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    resolver = Resolver((await server.stdout.readline()).decode().strip())
    found = await resolver(["d1", "d2"])
    await resolver.aclose()
    server.terminate()
    await server.communicate()

    assert {"d1": "Tram 9 runs to the harbour."} == found
