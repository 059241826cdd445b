"""Without a line of code: under the real `opentelemetry-instrument`, in processes of their own."""

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.contract.test_processor_shipping import Evaluator

pytest.importorskip("opentelemetry.distro")

RETRIEVE = """
from opentelemetry import trace

tracer = trace.get_tracer("app")
with tracer.start_as_current_span("chain") as chain:
    chain.set_attribute("input.value", "Which depot?")
    with tracer.start_as_current_span("no input"), tracer.start_as_current_span("search") as search:
        search.set_attribute("openinference.span.kind", "RETRIEVER")
        search.set_attribute("retrieval.documents", '["Tram 9 runs to the harbour."]')
    tracer.start_span("not above", attributes={"input.value": "?"}).end()
"""
SET_PROVIDER = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

trace.set_tracer_provider(TracerProvider())
"""
SHIPPED = ["search", "chain"]


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    with Evaluator() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def instrumented(script: str, environment: Mapping[str, str]) -> str:
    """Run a script under `opentelemetry-instrument`; return what it wrote to stderr."""
    command = Path(sys.executable).parent / "opentelemetry-instrument"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "SEER_"))}
    nothing = {f"OTEL_{s}_EXPORTER": "none" for s in ("TRACES", "METRICS", "LOGS")}
    run = subprocess.run(
        [command, sys.executable, "-c", textwrap.dedent(script)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env={**inherited, **nothing, "SEER_SAMPLE_RATE": "1", **environment},
    )
    return run.stderr


def test_an_endpoint_in_the_environment_is_enough(evaluator: Evaluator) -> None:
    instrumented(RETRIEVE, {"SEER_ENDPOINT": evaluator.url})

    assert SHIPPED == evaluator.names


def test_without_an_endpoint_nothing_happens(evaluator: Evaluator) -> None:
    instrumented(RETRIEVE, {})

    assert [] == evaluator.names


def test_a_provider_that_the_application_sets_is_found_once(evaluator: Evaluator) -> None:
    no_distro = {"OTEL_PYTHON_CONFIGURATOR": "none", "SEER_ENDPOINT": evaluator.url}
    instrumented(SET_PROVIDER + RETRIEVE, no_distro)

    assert SHIPPED == evaluator.names


def test_an_instrumentation_that_fails_to_load_does_not_cost_it(
    evaluator: Evaluator, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("class Instrumentor:\n    def __init__(self): 1 / 0\n")
    metadata = tmp_path / "broken-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    entry = "[opentelemetry_instrumentor]\nbroken = broken:Instrumentor\n"
    (metadata / "entry_points.txt").write_text(entry)
    said = instrumented(RETRIEVE, {"SEER_ENDPOINT": evaluator.url, "PYTHONPATH": str(tmp_path)})

    assert "Instrumenting of broken failed" in said
    assert SHIPPED == evaluator.names


def test_an_evaluator_that_is_away_and_a_wrong_endpoint_break_nothing() -> None:
    for endpoint in ("http://127.0.0.1:9", "nonsense"):
        instrumented(RETRIEVE, {"SEER_ENDPOINT": endpoint})


def test_the_exporter_of_the_environment_ships_the_same_and_alone(evaluator: Evaluator) -> None:
    instrumented(RETRIEVE, {"SEER_ENDPOINT": evaluator.url, "OTEL_TRACES_EXPORTER": "seer"})

    assert SHIPPED == evaluator.names


def test_the_exporter_of_a_configuration_file_ships_the_same(
    evaluator: Evaluator, tmp_path: Path
) -> None:
    pytest.importorskip("opentelemetry.configuration")
    file = tmp_path / "otel.yaml"
    file.write_text(
        textwrap.dedent(
            f"""
            file_format: "1.0"
            tracer_provider:
              processors:
                - batch:
                    exporter:
                      seer:
                        endpoint: {evaluator.url}
                        sample_rate: 1.0
            """
        )
    )
    instrumented(RETRIEVE, {"OTEL_CONFIG_FILE": str(file), "SEER_SAMPLE_RATE": "0"})

    assert SHIPPED == evaluator.names
