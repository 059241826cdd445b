"""Refuse a next hop that leads back here: spans would go in circles."""

import socket
from collections.abc import Iterable
from ipaddress import ip_address

from seer_otel.config.secrets import shown
from seer_otel.errors import ConfigError
from seer_otel.evaluator.forward.next_hop import address_of


def refuse_circle(url: str, own_addresses: Iterable[str | None]) -> None:
    """
    Check that a next hop is none of our own listeners (HOST:PORT; None where off).

    Raises:
        ConfigError: It is.
    """
    host, port, _ = address_of(url)
    for own in own_addresses:
        if own is None or int(own.rpartition(":")[2]) != port:
            continue
        own_host = own.rpartition(":")[0].strip("[]")
        if _same_machine(host, own_host):
            raise ConfigError(
                f"the next hop {shown(url)} is this evaluator itself ({own}): spans would go in "
                "circles; give the address of the Collector or backend with --forward, or other "
                "ports with --grpc and --http"
            )


def _same_machine(host: str, own: str) -> bool:
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    if ip_address(own).is_unspecified if _is_ip(own) else False:
        return any(ip_address(a).is_loopback for a in addresses) or host == socket.gethostname()
    try:
        return bool(addresses & {info[4][0] for info in socket.getaddrinfo(own, None)})
    except OSError:
        return False


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
