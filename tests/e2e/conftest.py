"""The programs and one Jaeger, shared by all tests of a run."""

import os
from collections.abc import Iterator

import pytest

from tests.crash.process import no_process_left
from tests.service.conftest import next_hop, start

from .jaeger import Jaeger
from .peers import Peers, PeersMissing
from .peers import peers as provide_peers
from .stack import running_jaeger

__all__ = ["next_hop", "no_process_left", "start"]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test here; the time to build the programs is not the test's."""
    item.add_marker(pytest.mark.e2e)
    item.add_marker(pytest.mark.timeout(120, func_only=True))


@pytest.fixture(scope="session")
def peers() -> Peers:
    """Return the Collector and Jaeger, built where they are missing."""
    try:
        return provide_peers()
    except PeersMissing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def jaeger(peers: Peers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jaeger]:
    """Return a running Jaeger; each test has traces of its own in it."""
    with running_jaeger(peers, tmp_path_factory.mktemp("jaeger")) as jaeger:
        yield jaeger
