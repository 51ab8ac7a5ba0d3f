"""TPC-C's clauses on real servers: what the engine draws, and what is true of the rows after it.

Each share is within five standard errors of the standard's.
"""

from math import sqrt
from typing import Any, Literal

import pytest

from benchmarks.tpcc import find_broken, kill_in_mid_run, spec
from plimsoll.databases.conditions import check_conditions
from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workflow.client import send_load
from plimsoll.workload import Compiled, load_workload

DECKS = 50
CONNECTIONS = 4
MIX = {"new_order": 10, "payment": 10, "order_status": 1, "delivery": 1, "stock_level": 1}


def require_share(found: int, of: int, share: float) -> None:
    """Refuse a count that is more than five standard errors away from its share."""
    error = sqrt(of * share * (1 - share))
    assert abs(found - of * share) <= 5 * error + 0.5, (found, of, share)


def find_breaches(target: EngineTarget, compiled: Compiled) -> dict[str, int | None]:
    """Return how often each broken condition is broken; one that is not known is broken."""
    found = check_conditions(target, compiled)
    return {one.name: one.breaches for one in found if one.breaches != 0}


@pytest.mark.whole
@pytest.mark.parametrize(
    ("workload", "parameters"), [("tpcc", {}), ("tpcc-procedures", {"foreign_keys": 1})]
)
def test_transactions_are_what_the_standard_says(
    target: EngineTarget, workload: str, parameters: dict[str, int]
) -> None:
    compiled = load_workload(workload).compile(2, parameters, target.protocol)
    prepare_dataset(target, compiled, connections=8)
    assert find_breaches(target, compiled) == {}
    report = send_load(
        LoadSpec(
            target=target,
            workload=compiled.engine_workload(1),
            connections=CONNECTIONS,
            duration_s=500,
            operations_limit=CONNECTIONS * DECKS * sum(MIX.values()),
            statement_latencies=True,
        )
    )
    totals = report.operations
    assert {name: one.errors for name, one in totals.items() if one.errors} == {}
    assert all(one.rows_missing == 0 for one in totals.values())
    assert {name: one.succeeded for name, one in totals.items()} == {
        name: cards * CONNECTIONS * DECKS for name, cards in MIX.items()
    }
    orders, payments = totals["new_order"], totals["payment"]
    require_share(orders.rolled_back, orders.succeeded, 0.01)
    committed = orders.succeeded - orders.rolled_back

    def read(query: str) -> int:
        with find_family(target.protocol).open_datasets(target) as datasets:
            return datasets.read_number(query)  # type: ignore[attr-defined, no-any-return]

    new = "FROM orders WHERE o_id > 3000"
    assert read(f"SELECT COUNT(*) {new}") == committed
    assert (read(f"SELECT MIN(o_ol_cnt) {new}"), read(f"SELECT MAX(o_ol_cnt) {new}")) == (5, 15)
    lines = read(f"SELECT SUM(o_ol_cnt) {new}")
    # the variance of a uniform draw of 11 numbers is 10
    assert abs(lines - 10 * committed) <= 5 * sqrt(10 * committed)
    remote = read(
        "SELECT COUNT(*) FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id"
    )
    require_share(remote, lines, 0.01)
    other = read("SELECT COUNT(*) FROM history WHERE h_id > 60000 AND h_c_w_id <> h_w_id")
    require_share(other, payments.succeeded, 0.15)
    for name in ("payment", "order_status"):
        # a stored procedure does not tell
        for by_name in (one for one in totals[name].statements if "c_first LIMIT" in one.sql):
            require_share(by_name.executed, totals[name].succeeded, 0.6)
    # what was delivered is not missing: nothing is loaded again
    assert prepare_dataset(target, compiled, connections=8).sent_rows == 0
    assert find_breaches(target, compiled) == {}
    family = find_family(target.protocol)
    with family.open_datasets(target) as datasets:
        datasets._execute("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1")  # type: ignore[attr-defined]
    assert find_breaches(target, compiled) == {"c1": 1, "c8": 1}


@pytest.mark.whole
@pytest.mark.parametrize("what", ["server", "client"])
@pytest.mark.parametrize("kind", ["mariadb", "postgres"])
def test_the_conditions_hold_after_a_kill_in_mid_run(
    kind: str, what: Literal["server", "client"], request: pytest.FixtureRequest
) -> None:
    start: Any = request.getfixturevalue(f"{kind}_factory")
    server = start()
    target = parse_dsn(server.dsn)
    compiled = load_workload("tpcc").compile(1, {}, target.protocol)
    prepare_dataset(target, compiled, connections=8)
    kill_in_mid_run(server, spec(target, compiled, 10**9, connections=8), what)
    if what == "server":
        start(directory=server.directory, port=server.port)
    assert find_broken(target, compiled) == []
    with find_family(target.protocol).open_datasets(target) as datasets:
        new = datasets.read_number("SELECT COUNT(*) FROM orders WHERE o_id > 3000")  # type: ignore[attr-defined]
    assert new > 0
