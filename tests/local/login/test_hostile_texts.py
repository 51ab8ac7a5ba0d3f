"""Whatever texts a server sends, a command ends in a line, and no text controls a terminal."""

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from plimsoll.cli.main import main
from plimsoll.databases.counting import open_work_counter
from plimsoll.databases.existing_keys import find_missing_keys
from plimsoll.databases.family import find_family
from plimsoll.databases.observing import combine_looks, open_statements
from plimsoll.databases.postgres import counters as postgres_counters
from plimsoll.databases.postgres import counting as postgres_counting
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.databases.trying import open_trial
from plimsoll.databases.watching import open_watcher
from plimsoll.errors import PlimsollError
from plimsoll.load_line.dataset import look
from plimsoll.model.engine.asked import EngineTarget, Protocol
from plimsoll.workload import load_workload
from plimsoll.workload.derive.derived import derive
from tests.local.login.conftest import IN_TIME_MS, target_on
from tests.support.answering_servers import Answer
from tests.support.hostile_server import HostileServer

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
ESCAPES = b"\x1b]0;title\x07\x1b[2J\xc2\x9b31m\r\n\x08\x7f{}\"'"
# Any bytes, and those that are dangerous or that code might take for what it asked for.
TEXTS = st.one_of(
    st.binary(max_size=40),
    st.lists(
        st.sampled_from(
            [b"\x1b[2J", b"\xc2\x9b", b"\0", b"\n", b"{}", b"[", b'"', b"1", b"-", b"ON"]
        )
    ).map(b"".join),
)
ROWS = st.integers(0, 9).flatmap(
    lambda width: st.lists(st.tuples(*[TEXTS] * (width + 1)), max_size=3).map(tuple)
)
WORKLOAD = load_workload("ycsb-c")


def observe(target: EngineTarget) -> object:
    """Read the statements that a server has counted."""
    with open_statements(target) as reader:
        return combine_looks(reader, target, [reader.look()])


def sample(target: EngineTarget) -> object:
    """Look at a server under load."""
    watcher = open_watcher(target)
    assert watcher is not None
    with watcher as server:
        return server.look()


def count(target: EngineTarget) -> object:
    """Do all that the gate asks of a server."""
    with open_work_counter(target) as counter:
        counter.create_copy("copy")
        counter.execute_in(target, ("SELECT 1",))
        counter.refresh_statistics(target)
        counter.checkpoint(target)
        counter.settle(target, longest_s=0)
        with counter.defer_purge(target):
            counter.drop_copy("copy")
        return counter.totals(target), counter.settings()


def look_for_keys(target: EngineTarget) -> object:
    """Look for the keys that a workload draws, and take keys of a table."""
    compiled = WORKLOAD.compile(10, {}, target.protocol)
    with find_family(target.protocol).open_datasets(target) as datasets:
        sampled = datasets.sample_keys("usertable", "ycsb_key", 10)
    return find_missing_keys(target, compiled), sampled


def derive_workload(target: EngineTarget) -> object:
    """Derive a workload, and have the server try it."""
    with open_statements(target) as reader:
        seen = combine_looks(reader, target, [reader.look()])
    with open_trial(target) as trial:
        return derive(seen, name="derived", writes=True, only=(), trial=trial)


# Everything that reads a server's answers in Python.
CALLS: dict[str, Callable[[EngineTarget], object]] = {
    "look": lambda target: look(target, WORKLOAD, None, {}),
    "prepare": lambda target: prepare_dataset(
        target, WORKLOAD.compile(10, {}, target.protocol), connections=1
    ),
    "counters": lambda target: find_family(target.protocol).read_counters(target),
    "parameters": lambda target: find_family(target.protocol).read_parameters(target, ("a",)),
    "settle": lambda target: find_family(target.protocol).settle(target, longest_s=0),
    "user": lambda target: find_family(target.protocol).make_load_user(target, "run"),
    "observe": observe,
    "sample": sample,
    "count": count,
    "keys": look_for_keys,
    "derive": derive_workload,
}


def list_texts(value: Any) -> Iterator[str]:
    """Yield every text in a value."""
    match value:
        case str():
            yield value
        case BaseModel():
            yield from list_texts(value.model_dump())
        case dict():
            for name, part in value.items():
                yield from list_texts(name)
                yield from list_texts(part)
        case list() | tuple() | set():
            for part in value:
                yield from list_texts(part)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from list_texts(
                [getattr(value, field.name) for field in dataclasses.fields(value)]
            )
        case _:
            return


@pytest.mark.parametrize("protocol", ["mysql", "postgres"])
@pytest.mark.parametrize("call", CALLS)
def test_no_text_of_a_server_controls_a_terminal_or_ends_in_a_stack_trace(
    call: str, protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_counters, "_LEAVING_MAX_S", 0)  # sessions that never leave
    monkeypatch.setattr(postgres_counting, "_LEAVING_MAX_S", 0)
    monkeypatch.setattr(postgres_counting, "_CHECKPOINT_MAX_S", 0)
    answer = Answer()
    script = answer.serve_mysql if protocol == "mysql" else answer.serve_postgres

    @example(rows=((b"1",),), name=b"value", error=None)  # one column, whatever was asked
    @given(rows=ROWS, name=TEXTS, error=st.one_of(st.none(), TEXTS))
    def check(rows: tuple[tuple[bytes, ...], ...], name: bytes, error: bytes | None) -> None:
        answer.rows, answer.name, answer.error = rows, name, error
        try:
            told = CALLS[call](target)
        except PlimsollError as refused:
            told = str(refused)
            assert "\n" not in told
        for text in list_texts(told):
            assert not CONTROLS.search(text)
            assert json.loads(json.dumps(text)) == text
            text.encode()  # has no half of a character

    with HostileServer(script) as server:
        target = target_on(server.port, protocol, None, IN_TIME_MS)
        check()


@pytest.mark.parametrize("protocol", ["mysql", "postgres"])
@pytest.mark.parametrize(
    "answer",
    [
        Answer(error=ESCAPES),
        Answer(rows=((ESCAPES,),)),
        Answer(rows=((b"1", ESCAPES, b"0", ESCAPES),)),
        Answer(rows=((b"1", b'{"\\u001b[2J": "\\u001b[2J"}', b"0", b"{}"),)),
        Answer(rows=((b"1", b"[" * 50_000, b"0", b"{}"),)),
    ],
    ids=["error", "value", "note", "parameters", "nesting"],
)
@pytest.mark.parametrize(
    "verb",
    [
        "load --workload ycsb-c --duration 1",
        "prepare --workload ycsb-c --records 10",
        "find --workload ycsb-c",
    ],
)
def test_a_verb_ends_in_one_line_that_a_terminal_shows(
    verb: str,
    answer: Answer,
    protocol: Protocol,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = answer.serve_mysql if protocol == "mysql" else answer.serve_postgres
    with HostileServer(script) as server:
        dsn = f"{protocol}://u:p@127.0.0.1:{server.port}/d"
        name, *options = verb.split()
        address = [dsn, "--out", str(tmp_path)] if name == "find" else ["--dsn", dsn]
        with pytest.raises(SystemExit) as ended:
            main([name, *address, *options])
    assert ended.value.code in (1, 2)
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert not CONTROLS.search(out + err)
