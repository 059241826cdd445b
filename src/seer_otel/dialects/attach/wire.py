"""Protobuf messages as bytes: fields are found and replaced, and everything else stays."""

from collections.abc import Callable, Mapping
from typing import Final

_LENGTH: Final = 2
_GROUP: Final = 3
_END: Final = 4


def replaced(message: bytes, changes: Mapping[int, Callable[[bytes], bytes | None]]) -> bytes:
    """
    Return a message with some of its fields changed.

    Args:
        message: A serialized message.
        changes: By field number of bytes, texts and messages: from a value to the one in its
            place; None: there is none any more.

    Raises:
        ValueError: It is no message.
    """
    kept: list[bytes] = []
    position = 0
    while position < len(message):
        start = position
        tag, position = _varint(message, position)
        number, kind = tag >> 3, tag & 7
        if kind != _LENGTH:
            position = _skipped(message, position, kind)
            kept.append(message[start:position])
            continue
        size, position = _varint(message, position)
        end = position + size
        if end > len(message):
            raise ValueError("a field ends behind the message")
        value = message[position:end]
        position = end
        change = changes.get(number)
        after = change(value) if change is not None else value
        if after == value:
            kept.append(message[start:end])
        elif after is not None:
            kept += (encoded(tag), encoded(len(after)), after)
    return b"".join(kept)


def encoded(number: int) -> bytes:
    """Return a number as a varint."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _varint(message: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if position >= len(message) or shift > 63:
            raise ValueError("a number does not end")
        byte = message[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7


def _skipped(message: bytes, position: int, kind: int) -> int:
    """Return where a field ends that is no bytes, text or message."""
    match kind:
        case 0:  # varint
            _, position = _varint(message, position)
        case 1:  # 64 bits
            position += 8
        case 5:  # 32 bits
            position += 4
        case _ if kind == _GROUP:
            position = _behind_group(message, position)
        case _:
            raise ValueError("there is no such kind of field")
    if position > len(message):
        raise ValueError("a field ends behind the message")
    return position


def _behind_group(message: bytes, position: int) -> int:
    depth = 1
    while depth:
        tag, position = _varint(message, position)
        kind = tag & 7
        if kind == _END:
            depth -= 1
        elif kind == _GROUP:
            depth += 1
        elif kind == _LENGTH:
            size, position = _varint(message, position)
            position += size
        else:
            position = _skipped(message, position, kind)
    return position
