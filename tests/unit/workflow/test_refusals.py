"""A client whose target has no room for its connections says so; any other refusal is a failure."""

import pytest

import plimsoll_engine
from plimsoll.errors import ConnectionsRefusedError
from plimsoll.model.engine.asked import EngineTarget, EngineWorkload, LoadSpec
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workflow.client import send_load

MYSQL = parse_dsn("mysql://u:p@127.0.0.1:1/d")
CASSANDRA = parse_dsn("cassandra://127.0.0.1:1/k")


def refusing(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    error = plimsoll_engine.EngineError("no room (10 of 16 connections were open)")
    error.code = code

    def run(*_: object) -> str:
        raise error

    monkeypatch.setattr(plimsoll_engine, "run", run)


@pytest.mark.parametrize(
    ("target", "code", "full"),
    [
        (MYSQL, "1040", True),
        (MYSQL, "1203", True),
        (MYSQL, "1226", True),
        (MYSQL, "1045", False),
        (MYSQL, "connection_lost", False),
        (CASSANDRA, "overloaded", True),
        (CASSANDRA, "connection_lost", True),
        (CASSANDRA, "connect", False),
    ],
)
def test_what_a_full_server_says(
    monkeypatch: pytest.MonkeyPatch, target: EngineTarget, code: str, *, full: bool
) -> None:
    refusing(monkeypatch, code)
    workload = EngineWorkload(key_spaces=(), operations=())
    spec = LoadSpec(target=target, workload=workload, connections=16, duration_s=1)
    error = ConnectionsRefusedError if full else plimsoll_engine.EngineError
    with pytest.raises(error, match="10 of 16 connections were open"):
        send_load(spec)
