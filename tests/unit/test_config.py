"""Configuration: one file < environment < flags; a mistake is named with its place."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from seer_otel.config import Config, load
from seer_otel.errors import ConfigError
from seer_otel.judge.budget import Allowance
from seer_otel.judge.calls import Price


def config(
    tmp_path: Path,
    file: str | None = None,
    environment: Mapping[str, str] | None = None,
    **flags: Any,
) -> Config:
    path = None
    if file is not None:
        path = tmp_path / "seer.yaml"
        path.write_text(file)
    return load(path, environment or {}, {k.replace("__", "."): v for k, v in flags.items()})


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    environment = {"SEER_SAMPLE_RATE": "0.2", "SEER_HOLD": "20"}
    loaded = config(
        tmp_path, "sample_rate: 0.3\nhold: {seconds: 40}\nlate_task: ignore", environment,
        sample_rate=0.1,
    )  # fmt: skip

    assert (0.1, 20.0, "ignore") == (loaded.sample_rate, loaded.hold.seconds, loaded.late_task)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("sampel_rate: 0.3", "sampel_rate: unknown setting"),
        ("hold: {secnds: 3}", "hold.secnds: unknown setting"),
        ("sample_rate: 2", "sample_rate: Input should be less than or equal to 1"),
        ("hold: {seconds: 5, task_wait: 5}", "must be shorter than seconds (5 s)"),
        ("forward: ftp://x", "'ftp://x' is no http:// or https:// URL"),
        ("forward: {url: 'http://x', client_key: k.pem}", "client_key go together"),
        ("tls: {certificate: c.pem}", "tls.key: Field required"),
        ("redact: {patterns: ['(']}", "'(' is no regular expression"),
        ("redact: {function: redact}", "is written module:function"),
        ("payload: shrink", "payload: Input should be 'keep', 'cut' or 'drop'"),
        ("limits: {connections: 0}", "limits.connections: Input should be"),
        ("resolver: texts.example.org", "is no http:// or https:// URL"),
        ("resolver: {timeout: 3}", "resolver.url: Field required"),
        ("resolver: http://x\nhold: 8", "resolver.timeout (5 s), after the longer of"),
        ("logs_endpoint: http://x:y", "logs_endpoint: 'http://x:y' is no http:// or https:// URL"),
        ("metrics_endpoint: x:4318", "metrics_endpoint: 'x:4318' is no http:// or https:// URL"),
        ("trace_results: most", "trace_results.send: Input should be 'all' or 'marked'"),
        ("grpc: off\nhttp: off", "nothing would be received"),
        ("grpc: localhost", "no HOST:PORT"),
        ("[1, 2]", "must hold settings by name"),
        ("a: [", "no YAML"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, file: str, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        config(tmp_path, file)

    assert says in str(error.value)


def test_an_error_names_the_variable_it_came_from(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"from SEER_SAMPLE_RATE"):
        config(tmp_path, None, {"SEER_SAMPLE_RATE": "often"})


def test_a_short_hold_shortens_its_parts(tmp_path: Path) -> None:
    hold = config(tmp_path, hold__seconds=4).hold

    assert (1.0, 2.0) == (hold.settle, hold.task_wait)


@pytest.mark.parametrize(
    ("environment", "flag", "expected"),
    [
        ({}, None, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:4317"}, None, ("http://b:4317", False)),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:4317",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t:4318/x",
            },
            None,
            ("http://t:4318/x", True),
        ),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/x"}, "http://f:1", ("http://f:1", False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:4317"}, "off", (None, False)),
    ],
)
def test_the_next_hop_is_the_flag_or_what_opentelemetry_says(
    tmp_path: Path,
    environment: dict[str, str],
    flag: str | None,
    expected: tuple[str | None, bool] | None,
) -> None:
    forward = config(tmp_path, None, environment, forward__url=flag).forward

    assert expected == (None if forward is None else (forward.url, forward.complete))


def test_exporter_headers_are_read_and_masked(tmp_path: Path) -> None:
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:4317",
        "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20s3cret,x-tenant=a",
        "OPENAI_API_KEY": "sk-s3cret",
        "SEER_API_KEY": "s3cret",
    }
    loaded = config(tmp_path, None, environment)

    assert ["s3cret"] == [key.get_secret_value() for key in loaded.api_keys]

    assert loaded.forward is not None
    assert "Bearer s3cret" == loaded.forward.headers["authorization"].get_secret_value()
    assert "s3cret" not in str(loaded.masked()) + repr(loaded)


def test_off_and_addresses_are_read_as_yaml_has_them(tmp_path: Path) -> None:
    loaded = config(tmp_path, "grpc: off\nforward: off\nhttp: '[::1]:0'")

    assert (None, "[::1]:0") == (loaded.grpc, loaded.http)
    assert loaded.forward is not None
    assert loaded.forward.url is None


def test_tools_are_a_list_or_one_text(tmp_path: Path) -> None:
    expected = ["search_docs", "lookup"]

    assert expected == config(tmp_path, "tools: [search_docs, lookup]").tools
    assert expected == config(tmp_path, None, {"SEER_TOOLS": "search_docs, lookup,"}).tools
    assert [] == config(tmp_path).tools


def test_a_resolver_is_a_url_or_a_section_and_its_headers_are_masked(tmp_path: Path) -> None:
    loaded = config(
        tmp_path, "resolver: {url: 'https://a.example', headers: {authorization: Bearer s3cret}}"
    )

    assert "https://a.example" == getattr(loaded.resolver, "url", None)
    assert "s3cret" not in str(loaded.masked())
    short = config(tmp_path, "resolver: http://a.example/texts")
    assert "http://a.example/texts" == getattr(short.resolver, "url", None)
    told = config(tmp_path, None, {"SEER_RESOLVER_URL": "http://b.example"})
    assert "http://b.example" == getattr(told.resolver, "url", None)
    assert config(tmp_path).resolver is None


def test_a_judge_has_prices_by_model_and_a_budget_by_minute_and_day(tmp_path: Path) -> None:
    loaded = config(
        tmp_path,
        "judge:\n"
        "  model: m\n"
        "  prices: {m: {input: 0.25, output: 2}, n: {input: 1, output: 1}}\n"
        "  budget: {minute: {calls: 60}, day: {tokens: 1_000_000, cost: 5}}\n"
        "  runs: 3\n",
    )
    settings = loaded.judge.settings()

    assert Price(0.25, 2.0) == settings.price
    assert (Allowance(calls=60), Allowance(tokens=1_000_000, cost=5.0)) == (
        settings.minute,
        settings.day,
    )
    assert 3 == loaded.judge.runs


def test_a_model_without_a_price_has_none(tmp_path: Path) -> None:
    loaded = config(tmp_path, "judge: {model: m, prices: {n: {input: 1, output: 1}}}")

    assert loaded.judge.settings().price is None


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("judge: {budget: {hour: {calls: 1}}}", "judge.budget.hour: unknown setting"),
        ("judge: {budget: {day: {calls: -1}}}", "judge.budget.day.calls: Input should be"),
        ("judge: {prices: {m: {input: 1}}}", "judge.prices.m.output: Field required"),
        ("judge: {runs: 0}", "judge.runs: Input should be greater than or equal to 1"),
    ],
)
def test_a_mistake_about_money_is_named_with_its_place(
    tmp_path: Path, file: str, says: str
) -> None:
    with pytest.raises(ConfigError) as error:
        config(tmp_path, file)

    assert says in str(error.value)
