"""Who is let in: keys as hashes, from the configuration and from a file that may change."""

import logging
import os
from pathlib import Path

import pytest

from seer_otel.cli import main
from seer_otel.errors import ConfigError
from seer_otel.evaluator.receive.answers import Unauthenticated
from seer_otel.evaluator.receive.gate import Gate, KeyFile, digest_of, names_this_machine

HASH = f"sha256:{digest_of('second').hex()}"


def lets_in(gate: Gate, authorization: str | None) -> bool:
    try:
        gate.check(authorization)
    except Unauthenticated:
        return False
    return True


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        ("Bearer first", True),
        ("bearer   first", True),
        ("Bearer second", True),
        ("Bearer third", False),
        ("Bearer", False),
        ("Bearer ", False),
        ("first", False),
        ("Basic first", False),
        ("Bearer first second", False),
        (f"Bearer {HASH}", False),
        (f"Bearer {HASH.removeprefix('sha256:')}", False),
        ("", False),
        (None, False),
        ("Bearer \udcff\x00", False),
    ],
)
def test_any_of_the_keys_lets_in_and_nothing_else(
    authorization: str | None, expected: bool
) -> None:
    assert expected == lets_in(Gate(["first", HASH]), authorization)


def test_without_keys_everybody_is_let_in() -> None:
    assert Gate().is_open
    assert lets_in(Gate(), None)


def test_every_key_is_compared_and_only_digests_are(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr("seer_otel.evaluator.receive.gate.hmac.compare_digest", compare)
    gate = Gate(["first", HASH, "third"])
    lets_in(gate, "Bearer first")
    lets_in(gate, "Bearer wrong")

    assert 6 == len(compared)
    assert {32} == {len(digest) for pair in compared for digest in pair}


def test_a_gate_holds_no_key(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("planted-in-file\n")
    gate = Gate(["planted"], KeyFile(file))
    held = repr([vars(gate), vars(vars(gate)["_file"])])

    assert "planted" not in held.replace(str(file), "")


def test_a_file_of_keys_is_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# of the applications\n\nfirst\n{HASH}  # of the Collector\n")
    gate = Gate(["own"], KeyFile(file))
    before = [lets_in(gate, f"Bearer {key}") for key in ("own", "first", "second", "third")]
    file.write_text("third\n")
    os.utime(file, ns=(1, 1))
    after = [lets_in(gate, f"Bearer {key}") for key in ("own", "first", "second", "third")]

    assert [True, True, True, False] == before
    assert [True, False, False, True] == after


@pytest.mark.parametrize("content", ["", "# none\n", "sha256:abc\n", None])
def test_a_file_that_breaks_locks_nobody_out_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str | None
) -> None:
    file = tmp_path / "keys"
    file.write_text("first")
    gate = Gate(file=KeyFile(file))
    if content is None:
        file.unlink()
    else:
        file.write_text(content)
        os.utime(file, ns=(1, 1))

    assert [True, True, False] == [
        lets_in(gate, f"Bearer {key}") for key in ("first", "first", "second")
    ]
    (line,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "the keys that it held stay in force" in line.getMessage()
    file.write_text("second")
    assert [False, True] == [lets_in(gate, f"Bearer {key}") for key in ("first", "second")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"# none", "it holds no key"),
        (b"first\nsha256:planted", "line 2: after sha256: there are no 64"),
        (b"\xff", "it is no text"),
        (None, "No such file"),
    ],
)
def test_a_file_that_cannot_be_used_stops_the_start(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    file = tmp_path / "keys"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigError, match=says) as error:
        KeyFile(file)
    assert "planted" not in str(error.value)


def test_a_key_that_is_made_is_known_by_its_hash(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["key"])
    printed = capsys.readouterr()
    key = printed.out.strip()
    known = printed.err.strip().removeprefix("hash: ")

    assert lets_in(Gate([known]), f"Bearer {key}")
    assert len(key) > 40
    assert key not in printed.err


def test_a_key_that_there_is_can_be_hashed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    file.write_text("second\n")
    with file.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)

        assert 0 == main(["key", "--hash"])
    assert f"{HASH}\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("LOCALHOST:4318", True),
        ("app.localhost:4318", True),
        ("127.0.0.1:4318", True),
        ("127.1.2.3", True),
        ("[::1]:4318", True),
        ("localhost.:4318", True),
        ("attacker.example", False),
        ("127.0.0.1.attacker.example", False),
        ("localhost.attacker.example", False),
        ("10.0.0.1", False),
        ("0.0.0.0:4318", False),
        ("", False),
    ],
)
def test_which_hosts_are_this_machine(host: str, expected: bool) -> None:
    assert expected == names_this_machine(host)
