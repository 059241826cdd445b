"""An address to listen on, and what to say where that cannot be."""

import os
import socket
from ipaddress import ip_address

from seer_otel.errors import ConfigError


def listen(address: str, flag: str) -> socket.socket:
    """
    Listen on HOST:PORT; port 0 is any that is free.

    Raises:
        ConfigError: The port is taken, or the address is not this machine's.
    """
    host, _, port = address.rpartition(":")
    try:
        return socket.create_server(
            (host.strip("[]"), int(port)),
            family=socket.AF_INET6 if ":" in host else socket.AF_INET,
            backlog=1024,
        )
    except OSError as error:
        what = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise ConfigError(
            f"cannot listen on {address}: {what}; give another with {flag} HOST:PORT, or {flag} off"
        ) from None


def is_loopback(address: str) -> bool:
    """Whether HOST:PORT is reached from this machine alone; a name must mean nothing else."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        found = {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ip_address(one).is_loopback for one in found)
