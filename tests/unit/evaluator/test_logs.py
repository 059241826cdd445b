"""The log of the process: one line a record, no secret, no words of an exception."""

import logging
import re
import sys
from typing import Any

import pytest

from seer_otel.evaluator.telemetry import logs
from seer_otel.evaluator.telemetry.logs import Discreet

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}"


def record(message: str, *arguments: Any, error: BaseException | None = None) -> logging.LogRecord:
    raised = (type(error), error, error.__traceback__) if error is not None else None
    return logging.LogRecord("x", logging.ERROR, __file__, 1, message, arguments, raised)


def raised(cause: str, effect: str) -> BaseException:
    try:
        try:
            raise KeyError(cause)
        except KeyError as error:
            raise ValueError(effect) from error
    except ValueError as error:
        return error


def test_secrets_are_masked_wherever_they_are_and_the_longest_first() -> None:
    said = Discreet(["abcde", "abcdefgh", "no", ""]).format(record("abcdefgh %s no", "abcde"))

    assert re.fullmatch(rf"{TIME} ERROR \*\*\* \*\*\* no", said)


@pytest.mark.parametrize("evil", ["a\nb", "a\r\nb", "a\x1b[2Jb", "a\x00b", "a\u2028b", "a\x9bb"])
def test_a_record_is_one_line_whatever_is_in_it(evil: str) -> None:
    said = Discreet().format(record("%s", evil))

    assert 1 == len(said.splitlines())
    assert re.search(r"a\\\S+b", said)


def test_an_exception_is_told_without_its_words() -> None:
    said = Discreet().format(record("failed", error=raised("what was asked", "what was found")))

    assert "what was" not in said
    assert "KeyError" in said
    assert "ValueError" in said
    assert "in raised" in said


def test_a_circle_of_causes_ends() -> None:
    one, other = ValueError(), KeyError()
    one.__cause__, other.__cause__ = other, one

    assert 1 == Discreet().format(record("failed", error=one)).count("KeyError")


def test_a_record_that_cannot_be_formatted_prints_nothing_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = logging.getLogger()
    before = root.handlers[:], root.level, logging.raiseExceptions
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    try:
        logs.begin(["s3cret"])
        logging.getLogger("x").error("%d", "what was found")
        logging.getLogger("x").error("with s3cret")
    finally:
        root.handlers[:], level, logging.raiseExceptions = before
        root.setLevel(level)
        for name in ("httpx", "uvicorn"):
            logging.getLogger(name).setLevel(logging.NOTSET)
    printed = capsys.readouterr().err

    assert "what was found" not in printed
    assert "with ***" in printed
