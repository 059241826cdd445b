"""The settings in force, as YAML that is a configuration file itself, and where each is from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from seer_otel.config import Config, load

_CAN_BE_OFF = ("grpc", "http", "forward.url")


def in_force(file: Path | None) -> str:
    """
    Return every setting with its value; what was set says where, and secrets are masked.

    What has no value is a comment.

    Raises:
        ConfigError: As `load`.
    """
    values = _dotted(load(file))
    told = _dotted(load(file, {}))
    default = _dotted(load(None, {}))
    lines: list[str] = []
    sections: set[str] = set()
    for name, value in values.items():
        section, _, last = name.rpartition(".")
        if section and section not in sections:
            sections.add(section)
            lines.append(f"{section}:")
        line = _line(name, last, value)
        if value != told.get(name):
            line += "  # from the environment"
        elif value != default.get(name):
            line += f"  # from {file}"
        lines.append(f"  {line}" if section else line)
    return "\n".join(lines)


def _dotted(config: Config) -> Mapping[str, Any]:
    settings: dict[str, Any] = {}
    for name, value in config.masked().items():
        if isinstance(getattr(config, name), BaseModel):
            settings |= {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            settings[name] = value
    return settings


def _line(name: str, last: str, value: Any) -> str:
    if value is None:
        return f"{last}: off" if name in _CAN_BE_OFF else f"# {last}:"
    text = yaml.safe_dump(value, default_flow_style=True, width=1000, allow_unicode=True)
    return f"{last}: {text.strip().removesuffix('...').strip()}"
