"""What a PostgreSQL server that means harm answers to statements, once it has let a client in."""

import pytest

from tests.local.login.conftest import attempt, target_on
from tests.local.login.postgres_clients import asking, by_engine, driven
from tests.support.hostile_postgres import (
    ANSWERS,
    CLEAR_TEXT,
    LET_IN,
    MIB,
    NOTICE,
    PREPARED,
    let_in,
    message,
    read,
    read_startup,
)
from tests.support.hostile_server import HostileServer, Peer, Script, floods, sends
from tests.support.little_memory import little_memory


@pytest.mark.parametrize("mode", PREPARED)
def test_an_answer_to_a_statement_that_is_prepared(mode: str) -> None:
    attempt(by_engine, let_in(PREPARED[mode]), "postgres")


@pytest.mark.parametrize("mode", ANSWERS)
def test_an_answer_to_an_execution_is_a_failed_operation(mode: str) -> None:
    with HostileServer(ANSWERS[mode]) as server, little_memory():
        report = driven(target_on(server.port, "postgres", None, None))
    done = report.operations["read"]
    assert (done.succeeded, sum(done.errors.values())) == (0, 1)


def answered(then: Script) -> Script:
    """Let the client in, and answer the statement that it sends as `then` does."""

    def script(peer: Peer) -> None:
        read_startup(peer)
        peer.send(LET_IN)
        read(peer)
        then(peer)

    return script


@pytest.mark.parametrize(
    "answer",
    [
        floods(NOTICE),
        floods(message(b"D", bytes(90))),
        floods(message(b"T", bytes(MIB), length=1 << 30)),
        sends(message(b"?", b"what")),
        sends(message(b"G", bytes(3))),
        sends(CLEAR_TEXT),
        lambda peer: peer.close(),
    ],
)
def test_an_answer_to_a_statement(answer: Script) -> None:
    with little_memory():
        attempt(asking, answered(answer), "postgres")
