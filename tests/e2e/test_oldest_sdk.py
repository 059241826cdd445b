"""The application side works on the oldest SDK that the package says it supports."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.e2e


def oldest() -> list[str]:
    """The lowest version of each OpenTelemetry package that an application installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [
        requirement.replace(">=", "==") + ".0"
        for requirement in project["dependencies"]
        if re.fullmatch(r"opentelemetry-[a-z-]+>=\d+\.\d+", requirement)
    ]


@pytest.mark.timeout(600)
def test_the_application_side_works_on_the_oldest_sdk(tmp_path: Path) -> None:
    pins = oldest()
    python = tmp_path / "venv" / "bin" / "python"
    tools = ["pytest", "pytest-asyncio", "pytest-timeout", "hypothesis"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", ROOT, *pins, *tools],
        check=True,
        env=environment,
    )

    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=",
         "--import-mode=importlib", "tests/unit/instrument", "tests/unit/test_sampling.py"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert 3 == len(pins)
    assert 0 == done.returncode, done.stdout[-4000:] + done.stderr[-2000:]
