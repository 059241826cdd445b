"""Who may come in: the keys that clients show, as hashes, and the hosts that they ask for."""

import hmac
import logging
import re
from collections.abc import Iterable
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from seer_otel.errors import ConfigError
from seer_otel.evaluator.receive.answers import Unauthenticated

log = logging.getLogger(__name__)

PREFIX: Final = "sha256:"
_BEARER: Final = re.compile(r"bearer +(.*\S) *", re.IGNORECASE)
_COMMENT: Final = re.compile(r"(?:^|\s)#")
_DIGEST: Final = re.compile("[0-9a-f]{64}")


def digest_of(key: str) -> bytes:
    """
    Return the digest that a key is known by.

    Args:
        key: The key itself, or `sha256:` and its digest in hexadecimal digits.

    Raises:
        ValueError: It begins with `sha256:`, and no digest follows.
    """
    if not key.startswith(PREFIX):
        return sha256(key.encode("utf-8", "surrogateescape")).digest()
    digits = key.removeprefix(PREFIX)
    if not _DIGEST.fullmatch(digits):
        raise ValueError("after sha256: there are no 64 hexadecimal digits")
    return bytes.fromhex(digits)


class KeyFile:
    """
    A file with a key, or the hash of one, in each line; ` #` begins a comment.

    It is read again when it has changed. What it held stays in force where it cannot be read any
    more, or holds none: clients drop what is refused for want of a key.

    Raises:
        ConfigError: It cannot be read, holds something else, or no key at all.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = self._stamped()
        try:
            self._digests = self._read()
        except (OSError, ValueError) as error:
            raise ConfigError(f"api_keys_file {path}: {_why(error)}") from None

    def digests(self) -> frozenset[bytes]:
        """Return what the file holds."""
        stamp = self._stamped()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._digests = self._read()
                log.info("%s has changed: %d key(s)", self._path, len(self._digests))
            except (OSError, ValueError) as error:
                log.error("%s: %s; the keys that it held stay in force", self._path, _why(error))
        return self._digests

    def _stamped(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> frozenset[bytes]:
        digests = set()
        for number, line in enumerate(self._path.read_text("utf-8").splitlines(), start=1):
            key = _COMMENT.split(line)[0].strip()
            try:
                digests |= {digest_of(key)} if key else set()
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
        if not digests:
            raise ValueError("it holds no key; `seer-otel key` makes one")
        return frozenset(digests)


class Gate:
    """
    Lets in who shows a key, where there are any.

    Args:
        keys: Keys, or their hashes.
        file: Where there are more of them.
    """

    def __init__(self, keys: Iterable[str] = (), file: KeyFile | None = None) -> None:
        self._digests = frozenset(map(digest_of, keys))
        self._file = file

    @property
    def is_open(self) -> bool:
        """Whether everybody is let in."""
        return not self._digests and self._file is None

    def check(self, authorization: str | None) -> None:
        """
        Let in, in a time that says nothing of the keys.

        Raises:
            Unauthenticated: There is no key, or none of ours.
        """
        if self.is_open:
            return
        shown = _BEARER.fullmatch(authorization or "")
        given = sha256((shown[1] if shown else "").encode("utf-8", "surrogateescape")).digest()
        known = self._digests | (self._file.digests() if self._file is not None else frozenset())
        # All of them, whichever fits: only digests are compared, and none in a shorter time.
        fits = [hmac.compare_digest(given, each) for each in known]
        if shown is None or not any(fits):
            raise Unauthenticated(
                "this evaluator wants the header `authorization: Bearer <SEER_API_KEY>`"
            )


def names_this_machine(host: str) -> bool:
    """
    Whether a Host header is one that people reach a service on their own machine by.

    A web page can make a browser ask 127.0.0.1 under a name of its own, and read the answer.
    """
    name = re.sub(r":\d*$", "", host).strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, UnicodeDecodeError):
        return "it is no text"
    return str(error)
