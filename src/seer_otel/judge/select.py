"""Which judge: the one rule by which text leaves this machine, or does not."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from seer_otel.errors import ConfigError
from seer_otel.judge import prompts
from seer_otel.judge.budget import Allowance, Budget
from seer_otel.judge.calls import Observe, Price
from seer_otel.judge.protocol import Judge
from seer_otel.judge.redacting import Redact, RedactingJudge

DEFAULT_URL: Final = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """
    Who judges.

    `auto` is `openai` only where a model is named, else `local`: a key that lies about in the
    environment sends nothing anywhere.
    """

    kind: str = "auto"
    """`auto`, `local`, `openai`, or `replay:FILE`."""
    model: str | None = None
    """The chat model, as the endpoint knows it."""
    base_url: str | None = None
    """Up to and including `/v1`; None: OpenAI's own."""
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 30.0
    """Seconds for one question, retries included."""
    concurrency: int = 8
    """Questions asked at once, at most."""
    prompts: Path | None = None
    """A folder with prompts that take the place of ours."""
    price: Price | None = None
    """Of the model; None where it is unknown."""
    minute: Allowance = Allowance()
    """What a model may be asked in a minute."""
    day: Allowance = Allowance()


def open_judge(
    settings: JudgeSettings,
    *,
    budget: Budget | None = None,
    patience_s: float = 120.0,
    observe: Observe = lambda _: None,
    redact: Redact | None = None,
) -> Judge:
    """
    Open the judge that the settings name.

    Args:
        settings: Who judges.
        budget: Watches over what a model is asked; one of the settings' allowances unless given.
        patience_s: Seconds to wait for a model that keeps failing; 0 where spans wait for it.
        observe: Is told of every request to a model.
        redact: From a text to what the judge may see of it.

    Raises:
        ConfigError: They name none, or lack what it needs; the message says what to give.
    """
    judge = _open(settings, budget, patience_s, observe)
    return judge if redact is None else RedactingJudge(judge, redact)


def _open(
    settings: JudgeSettings, budget: Budget | None, patience_s: float, observe: Observe
) -> Judge:
    kind, file = _kind(settings)
    if kind == "openai":
        budget = budget or Budget(settings.minute, settings.day)
        return _open_openai(settings, budget, patience_s, observe)
    if kind == "replay":
        from seer_otel.judge.replay import ReplayJudge

        return ReplayJudge(Path(file))
    from seer_otel.judge.local import LocalJudge

    return LocalJudge()


def describe(settings: JudgeSettings) -> str:
    """
    Name the judge, and where the text goes that it is shown.

    Raises:
        ConfigError: The settings name no judge.
    """
    kind, file = _kind(settings)
    if kind == "openai":
        return f"judge openai/{settings.model} at {_host(settings)}"
    if kind == "replay":
        return f"judge replay/{Path(file).stem}, from {file}: nothing leaves this machine"
    return "judge local: nothing leaves this machine"


def _kind(settings: JudgeSettings) -> tuple[str, str]:
    kind, _, file = settings.kind.partition(":")
    if settings.kind == "auto":
        return ("openai" if settings.model else "local"), ""
    if settings.kind in ("local", "openai") or (kind == "replay" and file):
        return kind, file
    raise ConfigError(f"judge: {settings.kind!r} is none of auto, local, openai, replay:FILE")


def _open_openai(
    settings: JudgeSettings, budget: Budget, patience_s: float, observe: Observe
) -> Judge:
    if not settings.model:
        raise ConfigError(
            "judge: openai needs a model: set SEER_JUDGE_MODEL, or judge.model in the file"
        )
    host = _host(settings)
    if not settings.api_key and settings.base_url is None:
        raise ConfigError(
            f"judge: {host} needs a key: set OPENAI_API_KEY, or judge.api_key in the file; for "
            "another server set OPENAI_BASE_URL, or judge.base_url"
        )
    if budget.limits_cost and settings.price is None:
        raise ConfigError(
            f"judge.budget: a limit on cost needs the price of {settings.model}: judge.prices"
        )
    try:
        from seer_otel.judge.openai import OpenAIJudge
    except ImportError as error:
        raise ConfigError(
            f"judge: openai needs {error.name}: pip install 'seer-otel[evaluator]'"
        ) from None
    return OpenAIJudge(
        settings.model,
        base_url=settings.base_url or DEFAULT_URL,
        api_key=settings.api_key,
        timeout_s=settings.timeout_s,
        concurrency=settings.concurrency,
        prompts=prompts.load(settings.prompts),
        price=settings.price,
        budget=budget,
        patience_s=patience_s,
        observe=observe,
    )


def _host(settings: JudgeSettings) -> str:
    url = settings.base_url or DEFAULT_URL
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # Without the value: it may hold a password.
        raise ConfigError("judge: base_url is no http:// or https:// URL, such as …/v1")
    return parts.netloc.rpartition("@")[2]
