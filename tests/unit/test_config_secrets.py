"""Secrets in the configuration are shown by nothing, not even where they cannot be used."""

from pathlib import Path
from typing import Final

import pytest
from pydantic import SecretStr

from seer_otel.cli import main
from seer_otel.config import load
from seer_otel.config.secrets import secrets_of, shown
from seer_otel.config.values import visible
from seer_otel.errors import ConfigError

SECRET: Final = "s3cret-do-not-show"

EVERYWHERE: Final = f"""
forward:
  url: https://user:{SECRET}@next.example:4317/base?token={SECRET}
  headers: {{authorization: Bearer {SECRET}, x-token: {SECRET}}}
judge:
  model: m
  base_url: https://user:{SECRET}@judge.example/v1?key={SECRET}
  api_key: {SECRET}
resolver:
  url: https://user:{SECRET}@texts.example/ids?{SECRET}
  headers: {{x-key: {SECRET}}}
api_keys: [{SECRET}]
logs_endpoint: https://{SECRET}@logs.example/v1/logs?a=b&c={SECRET}
metrics_endpoint: https://a:{SECRET}@metrics.example/v1/metrics#{SECRET}
"""


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "seer.yaml"
    file.write_text(text)
    return file


def test_the_settings_in_force_show_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, EVERYWHERE)

    assert 0 == main(["config", "--config", str(file)])
    printed = capsys.readouterr()
    assert SECRET not in printed.out + printed.err
    assert "https://***@next.example:4317/base?***" in printed.out
    assert "https://***@texts.example/ids?***" in printed.out


@pytest.mark.parametrize(
    "text",
    [
        f"forward: ftp://user:{SECRET}@next.example",
        f"forward: 'http://user:{SECRET}@'",
        f"forward: 'http://user:{SECRET}@['",
        f"resolver: {{url: 'htp//user:{SECRET}@texts.example'}}",
        f"forward: {{url: 'http://x', headers: {{a: '{SECRET}\n\n  b'}}}}",
        f"forward: {{url: 'http://x', headers: {{a: [{SECRET}]}}}}",
        f"api_keys: ['{SECRET} ']",
        f"api_keys: ['sha256:{SECRET}']",
        f"api_keys: {{{SECRET}: 1}}",
        f"judge: {{api_key: [{SECRET}]}}",
        f"judge: {{api_key: '{SECRET}\u00e9'}}",
        f"api_keys: [{SECRET}",
        f"api_keys: *{SECRET}",
        f"api_keys: !!{SECRET} x",
        f"api_keys: '{SECRET}",
        f"judge: {{model: {SECRET}: x}}",
    ],
)
def test_no_error_repeats_a_secret(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(write(tmp_path, text), {})

    assert SECRET not in str(error.value)
    assert str(error.value)


def test_an_unusable_url_of_a_judge_is_not_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEER_FORWARD", "off")
    file = write(tmp_path, f"judge: {{model: m, base_url: 'htp://a:{SECRET}@b/v1'}}")

    assert 2 == main(["serve", "--config", str(file), "--data-dir", str(tmp_path)])
    assert SECRET not in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.example:4317", "http://a.example:4317"),
        ("a.example:4317", "a.example:4317"),
        ("https://u:p@a.example/v1", "https://***@a.example/v1"),
        ("https://u:p@ss@a.example/v1?x=y#z", "https://***@a.example/v1?***"),
        ("u:p@a.example", "***@a.example"),
        ("", ""),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, expected: str) -> None:
    assert expected == shown(url)


def test_every_secret_of_the_settings_is_known(tmp_path: Path) -> None:
    text = EVERYWHERE.replace(SECRET, "s3cret%20value", 1)
    known = secrets_of(load(write(tmp_path, text), {}))

    assert {SECRET, f"Bearer {SECRET}", "s3cret value", f"user:{SECRET}"} <= known
    assert set() == known & {"m", "https", "user", "next.example:4317", "authorization"}
    assert frozenset() == secrets_of(load(None, {}))


@pytest.mark.parametrize("value", ["", " k", "k\n", "k\u00e9", "k\x00", "\x1b[2J"])
def test_a_secret_that_no_header_can_carry_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="characters that no header has"):
        visible(SecretStr(value))


def test_names_of_headers_are_small_and_checked(tmp_path: Path) -> None:
    file = write(tmp_path, "forward: {url: 'http://x', headers: {X-Tenant: a}}")
    forward = load(file, {}).forward

    assert forward is not None
    assert ["x-tenant"] == list(forward.headers)
    with pytest.raises(ConfigError, match="is no name of a header"):
        load(write(tmp_path, 'forward: {url: "http://x", headers: {"a\\r\\nb": c}}'), {})


def test_headers_for_an_exporter_alone_are_no_next_hop() -> None:
    environment = {
        "OTEL_EXPORTER_OTLP_HEADERS": "a=b",
        "OTEL_EXPORTER_OTLP_CERTIFICATE": "ca.pem",
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "c.pem",
        "OTEL_EXPORTER_OTLP_CLIENT_KEY": "k.pem",
    }

    assert load(None, environment).forward is None
    forward = load(None, {**environment, "OTEL_EXPORTER_OTLP_ENDPOINT": "https://x"}).forward
    assert forward is not None
    assert ("ca.pem", "c.pem", "k.pem") == (
        str(forward.certificate),
        str(forward.client_certificate),
        str(forward.client_key),
    )
