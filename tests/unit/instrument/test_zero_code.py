"""The hook adds one processor to the provider, now or when there is one, and never raises."""

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

from seer_otel.instrument import SeerSpanProcessor, exporter, zero_code


class Provider(TracerProvider):
    """A provider that tells what was added."""

    def __init__(self) -> None:
        super().__init__(shutdown_on_exit=False)
        self.added: list[SpanProcessor] = []

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        self.added.append(span_processor)
        super().add_span_processor(span_processor)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zero_code, "_state", "off")
    monkeypatch.setattr(exporter, "in_use", False)
    monkeypatch.setattr(trace, "set_tracer_provider", trace.set_tracer_provider)
    monkeypatch.setenv("SEER_ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    provider = Provider()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield provider
    provider.shutdown()


def test_one_processor_is_added_however_often_it_is_called(provider: Provider) -> None:
    zero_code.attach()
    zero_code.attach()

    assert [SeerSpanProcessor] == [type(added) for added in provider.added]


@pytest.mark.parametrize("endpoint", [None, "", " "])
def test_without_an_endpoint_nothing_is_added(
    provider: Provider, endpoint: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SEER_ENDPOINT")
    if endpoint is not None:
        monkeypatch.setenv("SEER_ENDPOINT", endpoint)
    zero_code.attach()

    assert [] == provider.added


def test_beside_an_exporter_nothing_is_added(provider: Provider) -> None:
    exporter.SeerSpanExporter()
    zero_code.attach()

    assert [] == provider.added


def test_a_provider_that_comes_later_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    later = Provider()
    current: list[trace.TracerProvider] = [trace.ProxyTracerProvider()]
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: current[-1])
    monkeypatch.setattr(trace, "set_tracer_provider", current.append)
    zero_code.attach()
    zero_code.attach()
    trace.set_tracer_provider(later)
    trace.set_tracer_provider(later)
    later.shutdown()

    assert [SeerSpanProcessor] == [type(added) for added in later.added]


def test_a_provider_without_processors_is_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
    zero_code.attach()

    assert [
        "Retrievals will not be judged: a NoOpTracerProvider takes no span processors"
    ] == caplog.messages


def test_nothing_that_goes_wrong_reaches_the_application(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: 1 / 0)
    zero_code.attach()

    assert ["Retrievals will not be judged: ZeroDivisionError"] == caplog.messages
