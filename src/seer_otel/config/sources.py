"""Where settings come from: one YAML file < environment < flags, each with its name in errors."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml
from pydantic import ValidationError

from seer_otel.config.settings import Config
from seer_otel.errors import ConfigError

ENVIRONMENT: Mapping[str, str] = {
    "SEER_GRPC": "grpc",
    "SEER_HTTP": "http",
    "SEER_FORWARD": "forward.url",
    "SEER_FORWARD_PROTOCOL": "forward.protocol",
    "SEER_JUDGE": "judge.kind",
    "SEER_JUDGE_MODEL": "judge.model",
    "OPENAI_BASE_URL": "judge.base_url",
    "OPENAI_API_KEY": "judge.api_key",
    "SEER_SAMPLE_RATE": "sample_rate",
    "SEER_TOOLS": "tools",
    "SEER_RESOLVER_URL": "resolver.url",
    "SEER_HOLD": "hold.seconds",
    "SEER_DATA_DIR": "data_dir",
    "SEER_API_KEY": "api_keys",
    "SEER_API_KEYS_FILE": "api_keys_file",
    "SEER_OPEN": "open",
    "SEER_TLS_CERTIFICATE": "tls.certificate",
    "SEER_TLS_KEY": "tls.key",
    "SEER_TLS_CLIENT_CA": "tls.client_ca",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "logs_endpoint",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "metrics_endpoint",
}
"""Environment variable to setting, for what one value can say."""


FLAGS: Mapping[str, str] = {
    "grpc": "--grpc",
    "http": "--http",
    "forward.url": "--forward",
    "forward.protocol": "--forward-protocol",
    "judge.kind": "--judge",
    "judge.runs": "--runs",
    "sample_rate": "--sample-rate",
    "hold.seconds": "--hold",
    "data_dir": "--data-dir",
    "open": "--open",
}
"""Setting to the flag that says it, for messages."""

_SECTIONS = frozenset(
    {
        "forward",
        "judge",
        "resolver",
        "hold",
        "trace_results",
        "tls",
        "redact",
        "shutdown",
        "limits",
    },
)
_SHORT = {
    "forward": "forward.url",
    "judge": "judge.kind",
    "resolver": "resolver.url",
    "hold": "hold.seconds",
    "trace_results": "trace_results.send",
}
"""Sections that one value stands for: `forward: off`, `judge: local`, `hold: 10`."""


def load(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Config:
    """
    Merge file, environment and flags (dotted setting to value; None: not given), and check.

    Raises:
        ConfigError: A file that cannot be read, an unknown key, a value that will not do.
    """
    environment = os.environ if environment is None else environment
    settings: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for name, value, source in (
        *_from_file(file),
        *_next_hop(environment),
        *((ENVIRONMENT[v], environment[v], v) for v in ENVIRONMENT if environment.get(v)),
        *((k, v, FLAGS.get(k, k)) for k, v in (flags or {}).items() if v is not None),
    ):
        _set(settings, name, value)
        origin[name] = source
        if name == "forward.url":
            _set(settings, "forward.complete", source == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    if "forward.url" not in origin and all(
        source.startswith("OTEL_") for name, source in origin.items() if name.startswith("forward.")
    ):
        settings.pop("forward", None)  # headers and certificates alone are no next hop
    try:
        return Config.model_validate(settings)
    except ValidationError as error:
        raise ConfigError(_explain(error, origin)) from None


def _from_file(file: Path | None) -> Iterator[tuple[str, Any, str]]:
    if file is None:
        return
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: no YAML: {_unreadable(error)}") from None
    if content is None:
        return
    if not isinstance(content, dict):
        raise ConfigError(f"{file}: the file must hold settings by name")
    yield from _flatten(content, "", str(file))


def _unreadable(error: yaml.YAMLError | UnicodeDecodeError) -> str:
    """Say what is wrong and where, without the line itself: it may hold a key."""
    if isinstance(error, UnicodeDecodeError):
        return f"{error.reason} at byte {error.start}"
    mark = getattr(error, "problem_mark", None)
    where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    problem = getattr(error, "problem", None) or "it cannot be read"
    return re.sub("'[^'<]{2,}'", "'…'", problem) + where


def _flatten(content: dict[Any, Any], prefix: str, source: str) -> Iterator[tuple[str, Any, str]]:
    for key, value in content.items():
        if isinstance(value, dict) and not prefix and key in _SECTIONS:
            yield from _flatten(value, f"{prefix}{key}.", source)
        elif key in _SHORT:
            yield _SHORT[key], value, source
        else:
            yield f"{prefix}{key}", value, source


def _next_hop(environment: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    """Read the next hop from the variables that OpenTelemetry defines for exporters."""

    def variable(suffix: str) -> tuple[str, str] | None:
        for name in (f"OTEL_EXPORTER_OTLP_TRACES_{suffix}", f"OTEL_EXPORTER_OTLP_{suffix}"):
            if environment.get(name):
                return environment[name], name
        return None

    if endpoint := variable("ENDPOINT"):
        yield "forward.url", *endpoint
    if protocol := variable("PROTOCOL"):
        yield "forward.protocol", *protocol
    for suffix in ("CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"):
        if file := variable(suffix):
            yield f"forward.{suffix.lower()}", *file
    if compression := variable("COMPRESSION"):
        yield "forward.compression", *compression
    if headers := variable("HEADERS"):
        pairs = [part.partition("=") for part in headers[0].split(",") if part.strip()]
        yield (
            "forward.headers",
            {unquote(k.strip()).lower(): unquote(v.strip()) for k, _, v in pairs},
            headers[1],
        )


def _set(settings: dict[str, Any], name: str, value: Any) -> None:
    *sections, last = name.split(".")
    for section in sections:
        settings = settings.setdefault(section, {})
    settings[last] = value


def _explain(error: ValidationError, origin: Mapping[str, str]) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    source = origin.get(name) or next(
        (origin[n] for n in origin if n.startswith(f"{name}.") or name.startswith(f"{n}.")), None
    )
    what = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        what = "unknown setting; `seer-otel config` prints the known ones"
    where = f" (from {source})" if source else ""
    return f"{name or 'configuration'}: {what}{where}"
