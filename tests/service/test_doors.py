"""Who may come in from where, and what every HTTP answer carries."""

import asyncio
import socket
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from seer_otel.cli import main
from seer_otel.config import load
from seer_otel.errors import ConfigError
from seer_otel.evaluator.receive.address import is_loopback
from seer_otel.evaluator.receive.doors import open_doors
from seer_otel.evaluator.telemetry import metrics
from tests.service.conftest import EXPORT, Service, Start
from tests.service.spans import request, retrieval, span

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
EVERYWHERE = "0.0.0.0:0"


def doors(**settings: Any) -> Any:
    told = {name.replace("__", "."): value for name, value in settings.items()}
    return open_doors(load(None, {}, {"grpc": "127.0.0.1:4317", "http": "off", **told}))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1:4317", True),
        ("127.9.9.9:4317", True),
        ("localhost:4317", True),
        ("[::1]:4317", True),
        ("0.0.0.0:4317", False),
        ("[::]:4317", False),
        ("10.0.0.1:4317", False),
        ("no-such-host.invalid:4317", False),
        ("[::ffff:127.0.0.1]:4317", False),
    ],
)
def test_which_addresses_are_reached_from_this_machine_alone(
    address: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if address.startswith("no-such-host"):

        def unknown(*_: Any) -> Any:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")

        monkeypatch.setattr(socket, "getaddrinfo", unknown)

    assert expected == is_loopback(address)


@pytest.mark.parametrize("listener", ["grpc", "http"])
def test_others_are_not_let_in_without_a_key_unless_told_so(listener: str) -> None:
    with pytest.raises(ConfigError) as error:
        doors(**{listener: EVERYWHERE})

    assert f"{EVERYWHERE} can be reached from other machines" in str(error.value)
    assert "`seer-otel key`" in str(error.value)
    assert "--open" in str(error.value)


@pytest.mark.parametrize(
    "settings", [{"open": True}, {"api_keys": "k"}, {"api_keys": ["k", "l"]}, {"file": "k"}]
)
def test_a_key_or_the_word_is_enough(settings: dict[str, Any], tmp_path: Path) -> None:
    if "file" in settings:
        (tmp_path / "keys").write_text(settings["file"])
        settings = {"api_keys_file": str(tmp_path / "keys")}

    assert bool(settings.get("open")) == doors(grpc=EVERYWHERE, **settings).gate.is_open


def test_the_command_line_refuses_with_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SEER_API_KEY", raising=False)
    words = ["serve", "--forward", "off", "--http", EVERYWHERE, "--data-dir", str(tmp_path)]

    assert 2 == main(words)
    assert "say --open" in capsys.readouterr().err


async def test_told_so_it_listens_everywhere(start: Start) -> None:
    service = await start(http=EVERYWHERE, open=True)
    port = (service.listening.http or "").rpartition(":")[2]
    answer = await service.http.get(f"http://127.0.0.1:{port}/healthz", headers={"host": "any.x"})

    assert 200 == answer.status_code


# Which requests show a key.

OPEN = ["/healthz", "/readyz", "/openapi.json"]
CLOSED = ["/metrics", "/v1/records/none"]


async def test_what_says_anything_of_spans_or_people_needs_the_key(start: Start) -> None:
    service = await start(api_keys="k")
    without = {path: (await service.http.get(path)).status_code for path in [*OPEN, *CLOSED]}
    shown = {"authorization": "Bearer k"}
    with_key = {path: (await service.http.get(path, headers=shown)).status_code for path in CLOSED}

    assert {**dict.fromkeys(OPEN, 200), **dict.fromkeys(CLOSED, 401)} == without
    assert {"/metrics": 200, "/v1/records/none": 404} == with_key


async def test_without_the_key_no_body_is_read(start: Start) -> None:
    """A refusal before the upload: strangers cannot make the evaluator hold their bytes."""
    service = await start(api_keys="k")

    call = service.channel.stream_unary(EXPORT)()
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    assert grpc.StatusCode.UNAUTHENTICATED == error.value.code()
    host, _, port = (service.listening.http or "").rpartition(":")
    with socket.create_connection((host, int(port))) as stranger:
        stranger.sendall(
            b"POST /v1/traces HTTP/1.1\r\nhost: localhost\r\n"
            b"content-type: application/x-protobuf\r\ncontent-length: 1000000\r\n\r\n"
        )

        assert (await receive(stranger)).startswith(b"HTTP/1.1 401 ")


async def receive(stranger: socket.socket) -> bytes:
    stranger.setblocking(False)
    async with asyncio.timeout(10):
        return await asyncio.get_running_loop().sock_recv(stranger, 4096)


async def test_keys_hold_for_every_signal_and_the_events(start: Start) -> None:
    service = await start(api_keys=["k", "l"])
    posts = ["/v1/traces", "/v1/metrics", "/v1/logs", "/v1/log", "/v1/log/batch", "/v1/evaluate"]
    statuses = [
        (await service.http.post(path, content=b"{}", headers=JSON)).status_code for path in posts
    ]
    for shown in ("Bearer k", "Bearer l"):
        await service.send(request(span(ord(shown[-1]))), authorization=shown)

    assert [401] * len(posts) == statuses
    assert 2 == len(service.backend.spans)
    assert len(posts) == service.total(metrics.REFUSED)


async def check(service: Service, name: str = "") -> int:
    body = HealthCheckRequest(service=name).SerializeToString()
    answer = await service.channel.unary_unary("/grpc.health.v1.Health/Check")(body, timeout=5)
    return int(HealthCheckResponse.FromString(answer).status)


async def test_health_over_grpc_needs_no_key(start: Start) -> None:
    service = await start(api_keys="k")
    traces = "opentelemetry.proto.collector.trace.v1.TraceService"

    assert [HealthCheckResponse.SERVING] * 2 == [await check(service), await check(service, traces)]
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await check(service, "other")
    assert grpc.StatusCode.NOT_FOUND == error.value.code()


# Browsers.


@pytest.mark.parametrize("host", ["attacker.example", "127.0.0.1.attacker.example:4318"])
async def test_a_page_cannot_have_its_own_name_lead_here(start: Start, host: str) -> None:
    service = await start()
    await service.send(request(retrieval(1)))
    answers = [
        await service.http.get("/v1/records/any", headers={"host": host}),
        await service.http.post("/v1/log", json={}, headers={"host": host}),
        await service.http.get("/metrics", headers={"host": host}),
    ]

    assert [403] * 3 == [answer.status_code for answer in answers]
    assert "localhost" in answers[0].json()["message"]


async def test_with_a_key_any_name_will_do(start: Start) -> None:
    service = await start(api_keys="k")
    headers = {"host": "evaluator.example", "authorization": "Bearer k"}

    assert 200 == (await service.http.get("/metrics", headers=headers)).status_code


async def test_no_other_origin_is_told_that_it_may(start: Start) -> None:
    service = await start()
    asked = {"origin": "https://attacker.example", "access-control-request-method": "POST"}
    answer = await service.http.options("/v1/log", headers=asked)

    assert 405 == answer.status_code
    assert [] == [name for name in answer.headers if name.startswith("access-control-")]


async def answers_of_all_kinds(service: Service) -> dict[str, Any]:
    post, get = service.http.post, service.http.get
    body = request(span(1))
    event = {"task": "<script>alert(1)</script>", "context": ["<script>"], "record_id": "r"}
    return {
        "traces": await post("/v1/traces", content=body, headers=PROTOBUF),
        "traces json": await post("/v1/traces", content=b"{}", headers=JSON),
        "no otlp": await post("/v1/traces", content=b"\x0a\xff", headers=PROTOBUF),
        "media type": await post("/v1/traces", content=body, headers={"content-type": "<script>"}),
        "encoding": await post(
            "/v1/traces", content=body, headers={**PROTOBUF, "content-encoding": "<script>"}
        ),
        "log": await post("/v1/log", json=event),
        "evaluate": await post("/v1/evaluate", json=event),
        "invalid": await post("/v1/log", json={"<script>": 1}),
        "no json": await post("/v1/log", content=b"<script>", headers=JSON),
        "no record": await get("/v1/records/%3Cscript%3E"),
        "no path": await get("/%3Cscript%3E"),
        "no method": await get("/v1/traces"),
        "metrics": await get("/metrics"),
        "health": await get("/healthz"),
        "ready": await get("/readyz"),
        "openapi": await get("/openapi.json"),
        "head": await service.http.head("/readyz"),
        "host": await get("/healthz", headers={"host": "<script>"}),
    }


async def test_no_answer_is_guessed_at_kept_or_framed_by_a_browser(start: Start) -> None:
    service = await start()
    answers = await answers_of_all_kinds(service)

    for name, answer in answers.items():
        assert "nosniff" == answer.headers["x-content-type-options"], name
        assert "no-store" == answer.headers["cache-control"], name
        assert "default-src 'none'" in answer.headers["content-security-policy"], name
        assert "same-origin" == answer.headers["cross-origin-resource-policy"], name
        assert "server" not in answer.headers, name


async def test_every_answer_is_json_but_protobuf_and_the_metrics(start: Start) -> None:
    service = await start()
    answers = await answers_of_all_kinds(service)
    others = {
        name: answer.headers["content-type"].partition(";")[0]
        for name, answer in answers.items()
        if answer.headers["content-type"] != "application/json"
    }

    assert {
        "traces": "application/x-protobuf",
        "no otlp": "application/x-protobuf",
        "metrics": "text/plain",
    } == others
