"""Thousands of files are read in order, several at a time, and few of them are held."""

import threading

import pytest

from plimsoll.aws.run_files import READ_AHEAD, RunFiles


def test_whoever_takes_long_over_a_file_does_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    lock = threading.Lock()

    def reading(_: RunFiles, path: str) -> bytes:
        with lock:
            read.append(path)
        return path.encode()

    monkeypatch.setattr(RunFiles, "_read", reading)
    wanted = [str(number) for number in range(5 * READ_AHEAD)]
    taken = []
    for path, content in RunFiles("bucket", "run").read_each(wanted):
        taken.append(path)
        assert content == path.encode()
        assert len(read) <= len(taken) + READ_AHEAD
    assert taken == wanted
    assert sorted(read) == sorted(wanted)


def test_a_file_that_is_not_there_is_an_error_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(_: RunFiles, path: str) -> bytes:
        if path == "b":
            raise FileNotFoundError(path)
        return b""

    monkeypatch.setattr(RunFiles, "_read", reading)
    each = RunFiles("bucket", "run").read_each(["a", "b", "c"])
    assert next(each) == ("a", b"")
    with pytest.raises(FileNotFoundError, match="b"):
        next(each)
