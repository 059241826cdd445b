"""
Certificates of the listeners, read again when they change.

Whoever comes after that is shown the new ones; connections that there are stay.
"""

import logging
import ssl
from pathlib import Path
from typing import Any

import grpc

from seer_otel.errors import ConfigError

log = logging.getLogger(__name__)


class Certificates:
    """
    What the service shows of itself, and whom it believes.

    Args:
        certificate: In PEM, with those between it and its CA.
        key: Its private key, in PEM.
        client_ca: Where given, clients must show a certificate of it.

    Raises:
        ConfigError: They cannot be read, or do not belong together.
    """

    def __init__(self, certificate: Path, key: Path, client_ca: Path | None = None) -> None:
        self._certificate = certificate
        self._key = key
        self._client_ca = client_ca
        self._stamps: object = self._stamped()
        try:
            self._http = self._context()
            self._grpc = self._configuration()
        except (OSError, ValueError) as error:
            raise ConfigError(f"tls: {self._why(error)}") from None

    @property
    def ask_clients(self) -> bool:
        """Whether clients must show a certificate."""
        return self._client_ca is not None

    def for_http(self) -> ssl.SSLContext:
        """Return what an HTTP listener needs."""
        context = self._context()
        context.sni_callback = self._hand_over
        return context

    def for_grpc(self) -> grpc.ServerCredentials:
        """Return what a gRPC listener needs."""
        return grpc.dynamic_ssl_server_credentials(
            self._configuration(), self._fetch, require_client_authentication=self.ask_clients
        )

    def _hand_over(self, connection: Any, _name: str | None, _context: ssl.SSLContext) -> None:
        """Take the newest certificate for a connection that begins; called for each."""
        self._refresh()
        connection.context = self._http

    def _fetch(self) -> Any:
        self._refresh()
        return self._grpc

    def _refresh(self) -> None:
        stamps = self._stamped()
        if stamps == self._stamps:
            return
        self._stamps = stamps
        try:
            self._http, self._grpc = self._context(), self._configuration()
            log.info("the certificate %s was read again", self._certificate)
        except (OSError, ValueError) as error:
            log.error("tls: %s; the certificate from before stays", self._why(error))

    def _stamped(self) -> list[tuple[int, int] | None]:
        stamps: list[tuple[int, int] | None] = []
        for path in (self._certificate, self._key, self._client_ca):
            try:
                status = path.stat() if path is not None else None
            except OSError:
                status = None
            stamps.append((status.st_mtime_ns, status.st_ino) if status is not None else None)
        return stamps

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # A key with a password would make OpenSSL ask for it on the terminal.
        context.load_cert_chain(self._certificate, self._key, password=_no_password)
        if self._client_ca is not None:
            context.load_verify_locations(self._client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _configuration(self) -> Any:
        pair = self._key.read_bytes(), self._certificate.read_bytes()
        roots = self._client_ca.read_bytes() if self._client_ca is not None else None
        return grpc.ssl_server_certificate_configuration([pair], roots)

    def _why(self, error: OSError | ValueError) -> str:
        for path in (self._certificate, self._key, self._client_ca):
            try:
                if path is not None:
                    path.open("rb").close()
            except OSError as unreadable:
                return f"{path}: {unreadable.strerror}"
        reason = getattr(error, "reason", None) or "no certificate and key in PEM"
        return f"{self._certificate} and {self._key} cannot be used ({reason})"


def _no_password() -> str:
    raise ValueError("the key has a password")
