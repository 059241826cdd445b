"""Text leaves the machine only where somebody said so."""

from pathlib import Path

import pytest

from seer_otel.errors import ConfigError
from seer_otel.judge.budget import Allowance
from seer_otel.judge.calls import Price
from seer_otel.judge.openai import OpenAIJudge
from seer_otel.judge.replay import ReplayJudge
from seer_otel.judge.select import JudgeSettings, describe, open_judge


def opens(settings: JudgeSettings) -> str:
    return open_judge(settings).name


def test_auto_is_local_where_no_model_is_named() -> None:
    settings = JudgeSettings(api_key="sk-lying-about", base_url="http://elsewhere.test/v1")

    assert opens(settings).startswith("local/")
    assert describe(settings) == "judge local: nothing leaves this machine"


def test_auto_is_openai_where_a_model_is_named() -> None:
    settings = JudgeSettings(model="gpt", api_key="sk")

    assert isinstance(open_judge(settings), OpenAIJudge)
    assert opens(settings) == "openai/gpt"
    assert describe(settings) == "judge openai/gpt at api.openai.com"


def test_local_stays_local_whatever_model_is_named() -> None:
    assert opens(JudgeSettings("local", model="gpt")).startswith("local/")


def test_another_server_needs_no_key() -> None:
    settings = JudgeSettings("openai", model="m", base_url="http://user:pw@127.0.0.1:8000/v1")

    assert opens(settings) == "openai/m"
    assert describe(settings) == "judge openai/m at 127.0.0.1:8000"


def test_a_limit_on_cost_goes_with_a_price() -> None:
    settings = JudgeSettings(
        model="m", api_key="sk", day=Allowance(cost=5.0), price=Price(0.25, 2.0)
    )

    assert "openai/m" == opens(settings)


def test_replay_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "night:1.jsonl"
    path.write_text('{"query": "q", "requirements": []}')
    settings = JudgeSettings(f"replay:{path}")

    assert isinstance(open_judge(settings), ReplayJudge)
    assert opens(settings) == "replay/night:1"
    assert describe(settings) == f"judge replay/night:1, from {path}: nothing leaves this machine"


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        (JudgeSettings("gpt"), "'gpt' is none of auto, local, openai, replay:FILE"),
        (JudgeSettings("replay:"), "replay:FILE"),
        (JudgeSettings("replay"), "replay:FILE"),
        (JudgeSettings("openai", api_key="sk"), "set SEER_JUDGE_MODEL, or judge.model"),
        (JudgeSettings(model="m"), "set OPENAI_API_KEY, or judge.api_key"),
        (JudgeSettings(model="m", base_url="localhost:8000"), "http:// or https://"),
        (JudgeSettings(model="m", base_url="http://:pw@/v1"), "http:// or https://"),
        (JudgeSettings(model="m", base_url="http://h:port/v1"), "http:// or https://"),
        (JudgeSettings(model="m", api_key="sk", day=Allowance(cost=5.0)), "judge.prices"),
        (JudgeSettings(model="m", api_key="sk", prompts=Path("nowhere")), "requirements.txt"),
    ],
)
def test_settings_that_will_not_do_say_what_would(settings: JudgeSettings, advice: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_judge(settings)

    assert advice in str(caught.value)
    assert "pw" not in str(caught.value)


def test_a_key_is_not_shown() -> None:
    assert "sk-secret" not in repr(JudgeSettings(api_key="sk-secret"))
