"""Every setting, declared once, with its default and its meaning; unknown ones are errors."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from platformdirs import user_state_path
from pydantic import BaseModel, BeforeValidator, Field, field_validator, model_validator

from seer_otel.config.guarding import Redact, Tls
from seer_otel.config.secrets import shown
from seer_otel.config.values import (
    STRICT,
    Address,
    Headers,
    Key,
    Names,
    Url,
    Visible,
    is_http,
    off,
    one_or_more,
)
from seer_otel.judge.budget import Allowance
from seer_otel.judge.calls import Price
from seer_otel.judge.select import JudgeSettings

Protocol = Literal["grpc", "http/protobuf"]


class _Section(BaseModel):
    model_config = STRICT


class Forward(_Section):
    """Where spans go next."""

    url: Annotated[Url | None, BeforeValidator(off)] = None
    """Base URL, or `off`: judge and keep records only."""
    protocol: Protocol = "grpc"
    headers: Headers = {}
    certificate: Path | None = None
    """CA certificates in PEM, for a next hop with TLS."""
    client_certificate: Path | None = None
    """In PEM, for a next hop that wants to know who comes."""
    client_key: Path | None = None
    """Private key of the client certificate, in PEM."""
    compression: Literal["gzip", "none"] = "none"
    timeout: float = Field(10.0, gt=0)
    """Seconds for one attempt."""
    complete: bool = False
    """Whether an HTTP URL is that of the traces endpoint itself, rather than its base."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.url and not is_http(self.url if "://" in self.url else f"http://{self.url}"):
            raise ValueError(f"{shown(self.url)!r} is no http:// or https:// URL")
        if (self.client_certificate is None) != (self.client_key is None):
            raise ValueError("client_certificate and client_key go together")
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
    base_url: Url | None = None
    api_key: Visible | None = None
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
    known_for: float = Field(24 * 3600.0, ge=60)
    """Seconds that a retrieval which has left is known, should it come again."""
    known_at_most: int = Field(1_000_000, ge=1_000)
    """Retrievals that are known; beyond them, the oldest are forgotten earlier."""

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

    url: Url
    timeout: float = Field(5.0, gt=0)
    """Seconds for all the ids of one retrieval."""
    headers: Headers = {}
    batch: int = Field(100, ge=1)
    """Ids in one request."""
    cache: int = Field(16_000_000, ge=0)
    """Characters of texts that are remembered."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not is_http(self.url):
            raise ValueError(f"{shown(self.url)!r} is no http:// or https:// URL")
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
    connections: int = Field(1_000, ge=1)
    """Of one listener, at once."""
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
    api_keys: Annotated[list[Key], BeforeValidator(one_or_more)] = []
    """Clients must show one of these, if there are any; they are kept as hashes."""
    api_keys_file: Path | None = None
    """More of them, one a line; read again when it changes."""
    open: bool = False
    """Whether to listen on an address that others reach, and ask for no key."""
    tls: Tls | None = None
    redact: Redact = Redact()
    payload: Literal["keep", "cut", "drop"] = "keep"
    """What becomes of the documents on retrieval spans that go on."""
    shutdown: Shutdown = Shutdown()
    limits: Limits = Limits()
    logs_endpoint: Url | None = None
    """OTLP/HTTP endpoint for evaluation log records."""
    metrics_endpoint: Url | None = None
    """OTLP/HTTP endpoint for the service's own metrics."""

    @field_validator("logs_endpoint", "metrics_endpoint")
    @classmethod
    def _check_endpoint(cls, url: str | None) -> str | None:
        if url and not is_http(url):
            raise ValueError(f"{shown(url)!r} is no http:// or https:// URL")
        return url

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
