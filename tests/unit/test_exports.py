"""The public names, and that they are what an application gets."""

import importlib.metadata
import inspect
import subprocess
import sys

import pytest

import seer_otel


def test_the_public_names() -> None:
    assert [
        "AsyncSeerClient",
        "SeerClient",
        "SeerSpanProcessor",
        "__version__",
        "request",
        "retrieval",
        "retriever",
    ] == seer_otel.__all__


def test_the_version_is_the_one_that_is_installed() -> None:
    assert importlib.metadata.version("seer-otel") == seer_otel.__version__


@pytest.mark.parametrize(
    "name",
    [
        "AsyncSeerClient",
        "SeerClient",
        "SeerSpanProcessor",
        "request",
        "retrieval",
        "retriever",
    ],
)
def test_every_public_name_shows_how_it_is_used(name: str) -> None:
    text = inspect.getdoc(getattr(seer_otel, name)) or ""

    assert "\n    " in text


def test_the_function_and_the_module_of_one_name_are_both_there() -> None:
    code = (
        "import seer_otel.retrieval; from seer_otel.retrieval import Passage; "
        "from seer_otel import retrieval; import seer_otel.verdict; "
        "print(callable(retrieval), callable(seer_otel.retrieval))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout

    assert output.strip() == "True True"
