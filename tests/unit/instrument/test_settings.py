"""Arguments go before variables, and a wrong variable stops no application."""

import pytest

from seer_otel.errors import ConfigError
from seer_otel.instrument import settings


def settled(
    endpoint: str | None = None,
    sample_rate: float | None = None,
    send: bool | None = None,
    api_key: str | None = None,
    headers: dict[str, str] | None = None,
    tools: list[str] | None = None,
) -> settings.Settings:
    return settings.settle(
        endpoint=endpoint,
        sample_rate=sample_rate,
        send=send,
        api_key=api_key,
        headers=headers,
        tools=tools,
    )


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEER_ENDPOINT", "SEER_SAMPLE_RATE", "SEER_SEND", "SEER_API_KEY", "SEER_TOOLS"):
        monkeypatch.delenv(name, raising=False)


def test_the_defaults() -> None:
    assert (
        settings.Settings(
            traces_url="http://127.0.0.1:4318/v1/traces",
            sample_rate=0.1,
            send=True,
            tools=(),
            headers={"content-type": "application/x-protobuf", "seer-forward": "no"},
        )
        == settled()
    )


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEER_ENDPOINT", "https://evaluator:24318/")
    monkeypatch.setenv("SEER_SAMPLE_RATE", "0.5")
    monkeypatch.setenv("SEER_SEND", "Off")
    monkeypatch.setenv("SEER_API_KEY", "k")
    found = settled()

    assert ("https://evaluator:24318/v1/traces", 0.5, False, "Bearer k") == (
        found.traces_url,
        found.sample_rate,
        found.send,
        found.headers["authorization"],
    )


def test_arguments_go_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEER_ENDPOINT", "http://elsewhere:1")
    monkeypatch.setenv("SEER_SAMPLE_RATE", "0.5")
    monkeypatch.setenv("SEER_SEND", "off")
    monkeypatch.setenv("SEER_API_KEY", "k")
    found = settled("http://here:2", 0.0, True, "argument", {"X-Tenant": "a"})

    assert ("http://here:2/v1/traces", 0.0, True, "Bearer argument", "a") == (
        found.traces_url,
        found.sample_rate,
        found.send,
        found.headers["authorization"],
        found.headers["x-tenant"],
    )


def test_keys_of_other_services_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret")

    assert {"content-type", "seer-forward"} == set(settled().headers)


def test_a_key_is_not_in_what_is_printed() -> None:
    assert "secret" not in repr(settled(api_key="secret"))


@pytest.mark.parametrize("endpoint", ["evaluator:4318", "ftp://evaluator", "http://", "http://[a"])
def test_a_wrong_endpoint_argument_is_an_error(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="endpoint"):
        settled(endpoint)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_wrong_rate_argument_is_an_error(rate: float) -> None:
    with pytest.raises(ConfigError, match="sample_rate"):
        settled(sample_rate=rate)


def test_a_wrong_endpoint_variable_turns_shipping_off(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SEER_ENDPOINT", "evaluator:4318")

    assert settled().send is False
    assert ["SEER_ENDPOINT is no http(s) URL: nothing is shipped to be judged"] == caplog.messages


@pytest.mark.parametrize("rate", ["half", "2", "nan"])
def test_a_wrong_rate_variable_leaves_the_default(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, rate: str
) -> None:
    monkeypatch.setenv("SEER_SAMPLE_RATE", rate)

    assert settled().sample_rate == 0.1
    assert ["SEER_SAMPLE_RATE is no number in 0..1; using 0.1"] == caplog.messages


def test_tools_are_named_with_commas_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEER_TOOLS", " search_docs, lookup,,")

    assert ("search_docs", "lookup") == settled().tools
    assert ("other",) == settled(tools=["other"]).tools
    assert () == settled(tools=[]).tools
