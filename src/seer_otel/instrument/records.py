"""Records as the evaluator says them in JSON, to the shapes of `seer_otel.verdict`."""

import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from seer_otel.verdict import Record


def read_record(body: bytes) -> Record:
    """
    Read a record. What a later release may have added is left out.

    Raises:
        ValueError: It is none.
    """
    try:
        record = _read(Record, json.loads(body))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"this is no record: {error}") from None
    if not isinstance(record, Record):
        raise ValueError("this is no record")
    return record


def _read(wanted: Any, value: Any) -> Any:
    """Build what a type hint says: dataclasses, tuples, and what JSON has itself."""
    if get_origin(wanted) in (Union, types.UnionType):
        if value is None:
            return None
        wanted = next(kind for kind in get_args(wanted) if kind is not type(None))
    if isinstance(wanted, type) and is_dataclass(wanted) and isinstance(value, Mapping):
        hints = _hints(wanted)
        return wanted(**{name: _read(hints[name], value[name]) for name in hints if name in value})
    if get_origin(wanted) is tuple and isinstance(value, list):
        return tuple(_read(get_args(wanted)[0], item) for item in value)
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
