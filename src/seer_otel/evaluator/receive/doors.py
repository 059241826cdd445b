"""The doors, as the configuration has them: who is let in, over what, from where."""

from dataclasses import dataclass

from seer_otel.config import Config
from seer_otel.errors import ConfigError
from seer_otel.evaluator.receive.address import is_loopback
from seer_otel.evaluator.receive.gate import Gate, KeyFile
from seer_otel.evaluator.receive.tls import Certificates


@dataclass(frozen=True, slots=True)
class Doors:
    """What both listeners go by."""

    gate: Gate
    certificates: Certificates | None
    any_host: bool
    """Whether HTTP requests may name any host: else this machine's alone."""
    max_bytes: int
    """Of one request, before and after decompression."""
    max_connections: int
    """Of one listener."""


def open_doors(config: Config) -> Doors:
    """
    Return what the listeners go by; they do not listen yet.

    Raises:
        ConfigError: Keys or certificates cannot be used; or anybody could come in, and nobody said
            that this is meant.
    """
    told = config.tls
    gate = Gate(
        [key.get_secret_value() for key in config.api_keys],
        KeyFile(config.api_keys_file) if config.api_keys_file is not None else None,
    )
    asks_for_nothing = gate.is_open and (told is None or told.client_ca is None)
    for address in (config.grpc, config.http):
        if asks_for_nothing and address and not config.open and not is_loopback(address):
            raise ConfigError(
                f"{address} can be reached from other machines, and no key is asked for: set "
                "SEER_API_KEY or api_keys (`seer-otel key` makes one), listen on 127.0.0.1, or say "
                "--open where the network itself keeps others out"
            )
    return Doors(
        gate,
        Certificates(told.certificate, told.key, told.client_ca) if told is not None else None,
        any_host=config.open or not asks_for_nothing,
        max_bytes=config.limits.request_bytes,
        max_connections=config.limits.connections,
    )
