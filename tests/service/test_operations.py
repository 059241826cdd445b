"""What operators do: look at a running evaluator, and send dead letters again."""

import asyncio
import json
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from seer_otel.cli import main
from seer_otel.evaluator.forward.dead_letters import FOLDER, INDEX
from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ScriptedJudge
from tests.service.conftest import Service, Start
from tests.service.spans import SCRIPT, request, retrieval, span

INVALID = grpc.StatusCode.INVALID_ARGUMENT
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


def poisoned(message: ExportTraceServiceRequest) -> grpc.StatusCode | None:
    names = [s.name for r in message.resource_spans for c in r.scope_spans for s in c.spans]
    return INVALID if "poison" in names else None


async def run(*arguments: str) -> int:
    return await asyncio.to_thread(main, arguments)


@pytest.fixture(autouse=True)
def _nothing_from_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEER_API_KEY", "SEER_FORWARD", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


async def with_letters(start: Start) -> Service:
    """Run a service whose next hop has refused two of five spans."""
    service = await start(trace_results__send="marked")
    service.backend.answer = poisoned
    await service.send(request(span(1), span(2, "poison"), span(3), span(4, "poison"), span(5)))
    await service.backend.until(lambda: len(service.backend.spans) == 3)
    async with asyncio.timeout(10):
        while service.total(metrics.HELD):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return service


async def resend(service: Service, folder: Path, *flags: str) -> int:
    return await run(
        "resend", "--data-dir", str(folder / "data"), "--forward", service.backend.url, *flags
    )


async def test_dead_letters_are_sent_again_and_gone(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = await with_letters(start)
    service.backend.answer = None
    first = await resend(service, tmp_path)
    said = capsys.readouterr().out
    second = await resend(service, tmp_path)

    assert (0, 0) == (first, second)
    assert "spans: 2 sent" in said
    assert "INVALID_ARGUMENT" in said
    assert "no dead letters" in capsys.readouterr().out
    assert {1} == set(service.backend.counts.values())
    assert 5 == len(service.backend.spans)
    assert [INDEX] == [path.name for path in (tmp_path / "data" / FOLDER).iterdir()]


async def test_what_is_refused_again_is_kept(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = await with_letters(start)
    code = await resend(service, tmp_path, "--format", "json")
    told = json.loads(capsys.readouterr().out)

    assert (1, {"refused": 2}) == (code, told["spans"])
    assert {"INVALID_ARGUMENT: as told"} == {letter["reason"] for letter in told["letters"]}
    assert 2 == len(list((tmp_path / "data" / FOLDER).glob("*.otlp.pb")))


async def test_a_next_hop_that_is_away_is_tried_once(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = await with_letters(start)
    service.backend.answer = lambda _: UNAVAILABLE
    attempts = service.backend.attempts
    code = await resend(service, tmp_path, "--format", "json")

    assert (1, {"waits": 2}) == (code, json.loads(capsys.readouterr().out)["spans"])
    assert attempts + 1 == service.backend.attempts
    assert 2 == len(list((tmp_path / "data" / FOLDER).glob("*.otlp.pb")))


async def test_what_was_taken_in_part_is_sent_only_where_that_is_meant(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = await start()
    partial = ExportTracePartialSuccess(rejected_spans=1)
    service.backend.response = ExportTraceServiceResponse(
        partial_success=partial
    ).SerializeToString()
    await service.send(request(span(1), span(2)))
    service.backend.response = b""
    cautious = await resend(service, tmp_path)
    said = capsys.readouterr().out
    bold = await resend(service, tmp_path, "--partial")

    assert (1, 0) == (cautious, bold)
    assert "partial success: 1 rejected" in said
    assert {2} == set(service.backend.counts.values())


async def test_a_letter_that_is_still_being_written_is_none(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = await with_letters(start)
    folder = tmp_path / "data" / FOLDER
    (folder / "0.otlp.pb.part").write_bytes(b"\n")
    with (folder / INDEX).open("ab") as index:
        index.write(b'{"file": "0.otl')
    service.backend.answer = None
    code = await resend(service, tmp_path)

    assert 0 == code
    assert "spans: 2 sent" in capsys.readouterr().out


async def test_without_a_next_hop_nothing_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == await run("resend", "--data-dir", str(tmp_path))
    assert "give --forward URL" in capsys.readouterr().err


async def test_status_tells_queue_age_rates_reasons_judge_and_next_hop(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    service = await start(judge=ScriptedJudge(SCRIPT, delay_s=60), shutdown__grace=0.3)
    service.backend.answer = lambda _: UNAVAILABLE
    await service.send(request(retrieval(1), span(2)))
    await service.send(request(retrieval(3, trace=b"s" * 16, seer__sampled=False)))
    code = await run("status", "--endpoint", f"http://{service.listening.http}")
    shown = capsys.readouterr().out
    await run("status", "--endpoint", service.listening.http or "", "--format", "json")
    page: dict[str, Any] = json.loads(capsys.readouterr().out)

    assert 1 == code
    assert "does not take spans" in shown
    assert "1 retrieval(s) waiting, 2 span(s) and 0 carrier(s) queued" in shown
    assert "skipped not_sampled 1" in shown
    assert "scripted/test" in shown
    assert {"accepted": 3, "held": 3, "forwarded": 0}.items() <= page["spans"].items()
    assert page["hold"]["oldest_age_s"] >= 0
    assert page["per_minute"]["seer.spans.accepted"] > 0
    assert f"127.0.0.1:{service.backend.port}" == page["next_hop"]
    assert (1, 2) == (page["hold"]["retrievals_waiting"], page["hold"]["spans_queued"])


async def test_status_is_for_those_who_hold_a_key(
    start: Start, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "k" * 32
    service = await start(api_keys=[key])
    endpoint = f"http://{service.listening.http}"
    without = await run("status", "--endpoint", endpoint)
    said = capsys.readouterr().err
    monkeypatch.setenv("SEER_API_KEY", key)

    assert (2, 0) == (without, await run("status", "--endpoint", endpoint))
    assert "set SEER_API_KEY" in said
    assert key not in said + capsys.readouterr().out


@pytest.mark.parametrize("endpoint", ["127.0.0.1:1", "http://[", "nothing://x"])
async def test_status_says_where_nobody_is(
    capsys: pytest.CaptureFixture[str], endpoint: str
) -> None:
    assert 2 == await run("status", "--endpoint", endpoint)
    assert "nobody answers at" in capsys.readouterr().err


async def test_status_says_where_somebody_else_is(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    service = await start()
    code = await run("status", "--endpoint", f"http://{service.listening.http}/v1")

    assert 2 == code
    assert "is no evaluator (HTTP 404)" in capsys.readouterr().err
