"""Whom the next hop must be, what it is shown, and what is never repeated of that."""

import ssl
from pathlib import Path

import grpc
import httpx

from seer_otel.config import Forward
from seer_otel.errors import ConfigError

MASK = "***"


def for_grpc(config: Forward) -> grpc.ChannelCredentials:
    """
    Return what a gRPC client needs for TLS.

    Raises:
        ConfigError: A certificate or key cannot be read, or used.
    """
    _checked(config)
    return grpc.ssl_channel_credentials(
        _content(config.certificate),
        _content(config.client_key),
        _content(config.client_certificate),
    )


def for_http(config: Forward) -> ssl.SSLContext:
    """
    Return what an HTTP client needs for TLS.

    Raises:
        ConfigError: A certificate or key cannot be read, or used.
    """
    return _checked(config)


def without_secrets(message: str, config: Forward) -> str:
    """Return what a next hop says, less what it was shown: some repeat the key they refuse."""
    for value in config.headers.values():
        secret = value.get_secret_value()
        for part in (secret, secret.rpartition(" ")[2]):  # the second is a bearer's token
            message = message.replace(part, MASK)
    return message


def _checked(config: Forward) -> ssl.SSLContext:
    """Load certificates and key as they will be used: gRPC says no more than that it failed."""
    context = httpx.create_ssl_context(trust_env=False)
    try:
        if config.certificate is not None:
            context = ssl.create_default_context(cafile=config.certificate)
        if config.client_certificate is not None:
            context.load_cert_chain(config.client_certificate, config.client_key, _no_password)
    except (OSError, ValueError) as error:
        for path in (config.certificate, config.client_certificate, config.client_key):
            _content(path)
        why = getattr(error, "reason", None) or error
        raise ConfigError(
            f"forward: certificate, client_certificate or client_key cannot be used ({why})"
        ) from None
    return context


def _content(path: Path | None) -> bytes | None:
    try:
        return path.read_bytes() if path is not None else None
    except OSError as error:
        raise ConfigError(f"forward: {path}: {error.strerror}") from None


def _no_password() -> str:
    raise ValueError("the key has a password")
