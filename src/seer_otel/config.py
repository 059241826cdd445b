"""
What the evaluator is told: one YAML file < environment < flags.

Every setting is declared once, here; unknown keys are errors, and every message names the place
that is to be mended. `OTEL_*` variables are honoured where OpenTelemetry has them.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote, urlsplit

import yaml
from platformdirs import user_state_path
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from seer_otel.errors import ConfigError
from seer_otel.judge.budget import Allowance
from seer_otel.judge.calls import Price
from seer_otel.judge.select import JudgeSettings

Protocol = Literal["grpc", "http/protobuf"]


def _off(value: object) -> object:
    # YAML reads a bare `off` as false.
    return None if value in ("off", False) else value


def _address(value: object) -> object:
    value = _off(value)
    if value is None:
        return None
    host, colon, port = str(value).rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{value!r} is no HOST:PORT (such as 127.0.0.1:4317), nor off")
    return str(value)


Address = Annotated[str | None, BeforeValidator(_address)]


def _names(value: object) -> object:
    if not isinstance(value, str):
        return value
    return [name for part in value.split(",") if (name := part.strip())]


Names = Annotated[list[str], BeforeValidator(_names)]
"""A list of names, or one text with commas between them."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Forward(_Section):
    """Where spans go next."""

    url: Annotated[str | None, BeforeValidator(_off)] = None
    """Base URL, or `off`: judge and keep records only."""
    protocol: Protocol = "grpc"
    headers: dict[str, SecretStr] = {}
    certificate: Path | None = None
    """CA certificates in PEM, for a next hop with TLS."""
    compression: Literal["gzip", "none"] = "none"
    timeout: float = Field(10.0, gt=0)
    """Seconds for one attempt."""
    complete: bool = False
    """Whether an HTTP URL is that of the traces endpoint itself, rather than its base."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.url is not None:
            parts = urlsplit(self.url if "://" in self.url else f"http://{self.url}")
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError(f"{self.url!r} is no http:// or https:// URL")
        return self


class ModelPrice(_Section):
    """Of a model, per million tokens, in a currency of your own."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Allowed(_Section):
    """How much a model may be asked in some time; what is not given has no limit."""

    calls: int | None = Field(None, ge=0)
    tokens: int | None = Field(None, ge=0)
    """Read and written together."""
    cost: float | None = Field(None, ge=0)
    """In the currency of the prices."""


class JudgeBudget(_Section):
    """What a model may be asked; retrievals beyond it leave unevaluated (`budget`)."""

    minute: Allowed = Allowed()
    day: Allowed = Allowed()
    """From midnight to midnight in UTC; counted on through restarts."""


class JudgeConfig(_Section):
    """Who judges."""

    kind: str = "auto"
    """`auto` (openai where a model is set, else local), `openai`, `local` or `replay:FILE`."""
    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    timeout: float = Field(30.0, gt=0)
    """Seconds for one call."""
    concurrency: int = Field(8, ge=1)
    """Retrievals judged at once, at most: fewer while a model says that it is too many."""
    runs: int = Field(1, ge=1, le=100)
    """How often each retrieval is judged: scores are the means, with their spread."""
    prompts: Path | None = None
    """Folder with `requirements.txt` or `support.txt` in place of `seer-otel prompt show`."""
    prices: dict[str, ModelPrice] = {}
    """By model. Without one, what judging costs is unknown."""
    budget: JudgeBudget = JudgeBudget()

    def settings(self) -> JudgeSettings:
        """Return what opens the judge."""
        price = self.prices.get(self.model or "")
        return JudgeSettings(
            kind=self.kind,
            model=self.model,
            base_url=self.base_url,
            api_key=self.api_key.get_secret_value() if self.api_key is not None else None,
            timeout_s=self.timeout,
            concurrency=self.concurrency,
            prompts=self.prompts,
            price=Price(price.input, price.output) if price is not None else None,
            minute=Allowance(**self.budget.minute.model_dump()),
            day=Allowance(**self.budget.day.model_dump()),
        )


class Hold(_Section):
    """How long a retrieval is held for its verdict; seconds."""

    seconds: float = Field(30.0, gt=0)
    settle: float = Field(2.0, ge=0)
    """To wait for an enclosing retrieval. A quarter of a short hold, unless told otherwise."""
    task_wait: float = Field(15.0, ge=0)
    """
    To wait for an ancestor's input, where the span has no task of its own. Half of a short hold,
    unless told otherwise.
    """
    max_bytes: int = Field(256 * 1024 * 1024, ge=1024)
    """Bytes on disk, held and queued, above which new spans are refused for now."""

    @model_validator(mode="before")
    @classmethod
    def _fit(cls, values: dict[str, Any]) -> dict[str, Any]:
        try:
            seconds = float(values.get("seconds", 30.0))
        except (TypeError, ValueError):
            return values  # the field says it better
        return {"settle": min(2.0, seconds / 4), "task_wait": min(15.0, seconds / 2), **values}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if max(self.settle, self.task_wait) >= self.seconds:
            raise ValueError(
                f"settle ({self.settle:g} s) and task_wait ({self.task_wait:g} s) must be shorter "
                f"than seconds ({self.seconds:g} s), or nothing is left for the judge"
            )
        return self


class ResolverConfig(_Section):
    """Where the texts of documents that came as ids alone are looked up."""

    url: str
    timeout: float = Field(5.0, gt=0)
    """Seconds for all the ids of one retrieval."""
    headers: dict[str, SecretStr] = {}
    batch: int = Field(100, ge=1)
    """Ids in one request."""
    cache: int = Field(16_000_000, ge=0)
    """Characters of texts that are remembered."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{self.url!r} is no http:// or https:// URL")
        return self


class TraceResults(_Section):
    """Results of whole traces."""

    send: Literal["all", "marked"] = "all"
    """`marked`: only where the application marked the final context."""
    idle: float = Field(10.0, gt=0)
    """Seconds without a span after which a trace counts as ended."""


class Shutdown(_Section):
    """How the service stops."""

    grace: float = Field(20.0, gt=0)
    """Seconds to empty hold and queue; what is left stays on disk."""
    held: Literal["release", "keep"] = "release"
    """Held retrievals leave unevaluated (`shutdown`), or wait for the next start."""


class Limits(_Section):
    """What one request or one context may hold."""

    request_bytes: int = Field(64 * 1024 * 1024, ge=1024)
    """Before and after decompression."""
    passages_per_call: int = Field(50, ge=1)
    characters_per_passage: int = Field(4_000, ge=1)
    """Longer passages are counted as several towards one call."""
    max_passages: int = Field(500, ge=1)
    max_characters: int = Field(32_000, ge=1)


class Config(_Section):
    """Everything in force."""

    grpc: Address = "127.0.0.1:4317"
    http: Address = "127.0.0.1:4318"
    signals: Literal["all", "traces"] = "all"
    """`all`: metrics and logs that arrive pass through to the next hop."""
    forward: Forward | None = None
    judge: JudgeConfig = JudgeConfig()
    sample_rate: float = Field(0.1, ge=0, le=1)
    tools: Names = []
    """Names of tools whose calls return documents, and are judged as retrievals."""
    resolver: ResolverConfig | None = None
    """Finds texts by ids, for the retrievals whose spans hold ids alone."""
    hold: Hold = Hold()
    trace_results: TraceResults = TraceResults()
    late_task: Literal["judge", "ignore"] = "judge"
    """What to do where the task arrives after its retrieval has left."""
    thresholds: dict[Literal["recall", "precision", "f1", "ndcg"], float] = {}
    """Scores at or above are labelled `pass`, others `fail`."""
    metric_keys: list[str] = []
    """Metadata keys that label the score histograms; each value set is bounded."""
    data_dir: Path = Field(default_factory=lambda: user_state_path("seer-otel"))
    api_key: SecretStr | None = None
    """Key that clients must present as a bearer token; none is needed on loopback."""
    shutdown: Shutdown = Shutdown()
    limits: Limits = Limits()
    logs_endpoint: str | None = None
    """OTLP/HTTP endpoint for evaluation log records."""
    metrics_endpoint: str | None = None
    """OTLP/HTTP endpoint for the service's own metrics."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.grpc is None and self.http is None:
            raise ValueError("grpc and http are both off: nothing would be received")
        waiting = max(self.hold.settle, self.hold.task_wait)
        if self.resolver is not None and waiting + self.resolver.timeout >= self.hold.seconds:
            raise ValueError(
                f"resolver.timeout ({self.resolver.timeout:g} s), after the longer of hold.settle "
                f"and hold.task_wait ({waiting:g} s), leaves nothing of hold.seconds "
                f"({self.hold.seconds:g} s) for the judge"
            )
        return self

    def masked(self) -> dict[str, Any]:
        """Return what is in force as plain values, secrets masked."""
        return self.model_dump(mode="json")


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
    "SEER_API_KEY": "api_key",
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
    "sample_rate": "--sample-rate",
    "hold.seconds": "--hold",
    "data_dir": "--data-dir",
}
"""Setting to the flag that says it, for messages."""

_SECTIONS = frozenset(
    {"forward", "judge", "resolver", "hold", "trace_results", "shutdown", "limits"},
)
_SHORT = {
    "forward": "forward.url",
    "judge": "judge.kind",
    "resolver": "resolver.url",
    "hold": "hold.seconds",
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
        raise ConfigError(f"{file}: no YAML: {' '.join(str(error).split())}") from None
    if content is None:
        return
    if not isinstance(content, dict):
        raise ConfigError(f"{file}: the file must hold settings by name")
    yield from _flatten(content, "", str(file))


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
    if certificate := variable("CERTIFICATE"):
        yield "forward.certificate", *certificate
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
