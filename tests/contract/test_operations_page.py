"""What is exported, answered and shipped to operators is explained to them, and works."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from seer_otel.dialects.reading import Reason
from seer_otel.errors import JudgeError, Overloaded, StorageFailed, TooLarge, Undecodable
from seer_otel.evaluator.receive.answers import Unauthenticated, Unsupported, answer
from seer_otel.evaluator.receive.faults import Invalid
from seer_otel.evaluator.telemetry.metrics import METRICS, Telemetry
from tests.service.conftest import Start

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "operations.md").read_text()
ALERTS = REPOSITORY / "collector-config" / "alerts.yaml"
NAMED = set(re.findall(r"`([\w.]+)`", PAGE))

RULES: list[dict[str, Any]] = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]


def test_every_metric_is_explained() -> None:
    assert set() == {metric.name for metric in METRICS} - NAMED


def test_every_reason_is_explained() -> None:
    own = {"not_sampled", "budget", "pressure", "shutdown", "nested", "deadline"}
    judging = {error.reason for error in JudgeError.__subclasses__()} | {JudgeError.reason}

    assert set() == {*get_args(Reason), *own, *judging} - NAMED


@pytest.mark.parametrize(
    "error",
    [
        Overloaded(""), StorageFailed(""), Undecodable(""), Invalid([]), TooLarge("", 1, 0),
        Unauthenticated(), Unsupported(),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_every_refusal_is_explained(error: Exception) -> None:
    told = answer(error)

    assert told.reason in NAMED
    assert re.search(rf"\b{told.http_status}\b.*`{told.reason}`", PAGE)


async def test_every_part_of_health_is_explained(start: Start) -> None:
    service = await start()
    parts = {*(await service.http.get("/healthz")).json()}
    parts |= {*(await service.http.get("/readyz")).json()}

    assert set() == parts - NAMED


def test_every_alert_is_explained() -> None:
    assert {rule["alert"] for rule in RULES} == set(re.findall(r"^\| `(Seer\w+)`", PAGE, re.M))


def test_alerts_are_about_metrics_that_there_are() -> None:
    exposed = Telemetry().exposition("")[0].decode()
    known = set(re.findall(r"^# TYPE (\w+)", exposed, re.M))
    used = {name for rule in RULES for name in re.findall(r"seer_\w+", rule["expr"])}

    assert set() == used - known
    assert {"critical", "warning"} == {rule["labels"]["severity"] for rule in RULES}
    assert all(rule["annotations"]["summary"] for rule in RULES)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", str(ALERTS)),
        ("test", "rules", str(Path(__file__).with_name("alerts.yaml"))),
    ],
    ids=["check", "test"],
)
def test_alerts_fire_when_they_should_and_else_do_not(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        ["promtool", *arguments], capture_output=True, text=True, timeout=60, check=False
    )

    assert 0 == done.returncode, done.stdout + done.stderr
