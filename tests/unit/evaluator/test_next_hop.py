"""What a next hop says, and how long it is waited for."""

import time
from email.utils import formatdate

import pytest

from seer_otel.evaluator.forward.next_hop import LONGER, Patience, _retry_after


@pytest.mark.parametrize(
    ("said", "seconds"),
    [(None, 0.0), ("7", 7.0), ("0", 0.0), ("-1", 0.0), ("1.5", 0.0), ("²", 0.0), ("٣", 0.0),
     ("soon", 0.0), ("", 0.0), ("Mon, 99 Foo 9999 99:99:99 GMT", 0.0),
     ("Mon, 01 Jan 0001 00:00:00 GMT", 0.0)],
)  # fmt: skip
def test_a_delay_is_read_or_there_is_none(said: str | None, seconds: float) -> None:
    assert seconds == _retry_after(said)


def test_a_delay_may_be_a_date() -> None:
    assert 55 < _retry_after(formatdate(time.time() + 60, usegmt=True)) <= 60


def test_who_answered_too_late_is_waited_for_longer_and_not_for_ever() -> None:
    patience = Patience(10.0)
    waits = [patience.seconds]
    for _ in range(5):
        patience.ran_out()
        waits.append(patience.seconds)

    assert [10.0, 20.0, 40.0, 80.0, 80.0, 80.0] == waits
    assert 10.0 * LONGER == waits[-1]
