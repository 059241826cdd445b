"""The sum of all accounts, as `/metrics` tells it."""

from collections.abc import Iterator, Mapping

from prometheus_client.parser import text_string_to_metric_families

PARTS = ("forwarded", "held", "dead_lettered", "duplicate", "judged_only")


def accounts(exposition: str) -> Mapping[str, float]:
    """Return the number of spans in each account; of what was not counted yet, 0."""
    told = dict(_spans(exposition))
    return {name: told.get(name, 0.0) for name in ("accepted", *PARTS)}


def assert_balanced(exposition: str) -> Mapping[str, float]:
    """Accepted = forwarded + held + dead_lettered + duplicate + judged_only; return them."""
    told = accounts(exposition)

    assert told["accepted"] == sum(told[part] for part in PARTS), told
    return told


def _spans(exposition: str) -> Iterator[tuple[str, float]]:
    for family in text_string_to_metric_families(exposition):
        for sample in family.samples:
            name = sample.name.removesuffix("_total")
            if name.startswith("seer_spans_") and not name.endswith("_created"):
                yield name.removeprefix("seer_spans_"), sample.value
