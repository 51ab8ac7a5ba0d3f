"""`plimsoll versus`, as its user calls it, on a real PostgreSQL: loads in turn, and one answer."""

import json
from collections.abc import Callable

from plimsoll.load_line.versus import VersusResult
from plimsoll.local.databases.postgres_server import PostgresServer
from tests.support.command import Output

LOAD = ["--connections", "1", "--warmup", "0", "--duration", "1", "--seed", "3"]


def test_two_targets_are_loaded_in_turn_and_compared(
    plimsoll: Callable[..., Output], postgres_factory: Callable[..., PostgresServer]
) -> None:
    dsn = postgres_factory().dsn
    code, _, err = plimsoll("prepare", "--dsn", dsn, "--workload", "ycsb-c", "--records", "100")
    assert code == 0, err
    call = ["versus", dsn, dsn, "--workload", "ycsb-c", *LOAD, "--pairs-max", "2"]
    code, text, err = plimsoll(*call, "--json")
    # two pairs decide nothing: their interval is unlimited
    assert code == 3, err
    result = VersusResult.model_validate(json.loads(text))
    assert (len(result.pairs), result.outcome, result.low) == (2, "not decided", None)
    assert result.servers[0] == result.servers[1]
    assert sorted(line[0] for line in err.splitlines()) == ["A", "A", "B", "B"]
    code, text, err = plimsoll(*call, "--rate", "100")
    assert code == 3, err
    assert text.startswith("not decided: B has ")
    assert "times the mean latency of A (too few pairs for an interval, 2 pairs)" in text


def test_a_target_that_cannot_be_loaded_is_named_before_the_other_one_is_loaded(
    plimsoll: Callable[..., Output], postgres_factory: Callable[..., PostgresServer]
) -> None:
    dsn = postgres_factory().dsn
    prepared = plimsoll("prepare", "--dsn", dsn, "--workload", "ycsb-c", "--records", "100")
    assert prepared[0] == 0
    other = dsn.rpartition("/")[0] + "/template1"
    code, _, err = plimsoll("versus", dsn, other, "--workload", "ycsb-c", *LOAD)
    assert code == 1
    assert err.startswith("plimsoll: B: there is no dataset 'ycsb' in the database template1")
