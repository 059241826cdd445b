"""Ids of records: made by clients, in order of time, and never those of spans."""

import re
import time

from seer_otel.dialects import record_ids


def test_an_id_is_a_ulid_with_a_prefix() -> None:
    assert re.fullmatch(r"rec_[0-7][0-9A-HJKMNP-TV-Z]{25}", record_ids.new())


def test_ids_are_distinct_and_sort_by_time() -> None:
    first = record_ids.new()
    then = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 == then:
        pass
    later = {record_ids.new() for _ in range(1_000)}

    assert 1_000 == len(later)
    assert all(first < other for other in later)


def test_the_id_of_a_span_is_made_of_its_ids() -> None:
    record_id = record_ids.of_span("ab" * 16, "cd" * 8)

    assert ("ab" * 16, "cd" * 8) == record_ids.ids_of_span(record_id)
    assert record_ids.ids_of_span(record_ids.new()) is None
