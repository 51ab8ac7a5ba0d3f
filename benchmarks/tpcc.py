"""TPC-C by its own clauses: `python -m benchmarks.tpcc clauses` prints a Markdown table.

`clauses` sends at least 100,000 transactions to MariaDB and PostgreSQL and counts, in the rows and
in the report, what the standard says of the mix, the lines, the rollbacks and the remote
warehouses. `killed` kills the server in mid-run, again and again, and checks the consistency
conditions each time.
"""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import sqrt
from pathlib import Path

import click

import plimsoll_engine
from plimsoll.databases.conditions import check_conditions
from plimsoll.databases.family import family_of
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import Compiled, load_workload

CARDS = {"new_order": 10, "payment": 10, "order_status": 1, "delivery": 1, "stock_level": 1}
Server = MariaDbServer | PostgresServer


def start(name: str, directory: Path, port: int | None = None) -> Server:
    """Start a server of this name."""
    if name == "mariadb":
        return MariaDbServer.start(directory=directory, port=port)
    return PostgresServer.start(directory=directory, port=port)


@contextmanager
def prepared(name: str, warehouses: int) -> Iterator[tuple[Server, EngineTarget, Compiled]]:
    """A server with TPC-C's rows."""
    with (
        tempfile.TemporaryDirectory() as folder,
        start(name, Path(folder) / "data") as server,
    ):
        target = parse_dsn(server.dsn)
        compiled = load_workload("tpcc").compile(warehouses, {}, target.protocol)
        prepare_dataset(target, compiled, connections=8)
        yield server, target, compiled


def spec(target: EngineTarget, compiled: Compiled, operations: int, connections: int) -> LoadSpec:
    """A load of whole decks on each connection, with the latency of each statement."""
    return LoadSpec(
        target=target,
        workload=compiled.engine_workload(1),
        connections=connections,
        duration_s=86_400,
        operations_limit=operations,
        statement_latencies=True,
    )


@click.group()
def main() -> None:
    """Measures TPC-C's transactions."""


@main.command("clauses")
@click.option("--transactions", default=100_000)
@click.option("--warehouses", default=4)
@click.option("--connections", default=8)
def clauses(transactions: int, warehouses: int, connections: int) -> None:
    """Count what the standard says of the transactions."""
    decks = -(-transactions // (connections * sum(CARDS.values())))
    click.echo("| server | clause | standard | found | standard errors away |")
    click.echo("|---|---|---|---|---|")
    for name in ("mariadb", "postgres"):
        with prepared(name, warehouses) as (_, target, compiled):
            operations = decks * connections * sum(CARDS.values())
            sent = spec(target, compiled, operations, connections)
            report = LoadReport.model_validate_json(plimsoll_engine.run(sent.model_dump_json()))
            for clause, standard, found, away in count(target, report):
                click.echo(f"| {name} | {clause} | {standard} | {found} | {away:+.1f} |")
            broken = [one.name for one in check_conditions(target, compiled) if one.breaches != 0]
            click.echo(f"| {name} | 3.3.2, conditions broken | none | {broken or 'none'} | |")


def count(target: EngineTarget, report: LoadReport) -> Iterator[tuple[str, str, str, float]]:
    """Each clause with the standard's figure, the one found, and their distance."""
    totals = report.operations
    sent = sum(one.succeeded for one in totals.values())
    orders, payments = totals["new_order"], totals["payment"]
    committed = orders.succeeded - orders.rolled_back

    def read(query: str) -> int:
        with family_of(target.protocol).open_datasets(target) as datasets:
            return datasets.read_number(query)  # type: ignore[attr-defined, no-any-return]

    def share(of: int, found: int, meant: float) -> tuple[str, str, float]:
        error = sqrt(of * meant * (1 - meant))
        return f"{meant:.2%}", f"{found / of:.2%} of {of:,}", (found - of * meant) / error

    for operation, cards in CARDS.items():
        found = totals[operation].succeeded / sent
        meant = cards / sum(CARDS.values())
        yield f"5.2.3, {operation}", f"{meant:.2%}", f"{found:.2%} of {sent:,}", 0.0
    lines = read("SELECT SUM(o_ol_cnt) FROM orders WHERE o_id > 3000")
    away = (lines - 10 * committed) / sqrt(10 * committed)
    yield "2.4.1.3, lines of an order", "10", f"{lines / committed:.3f}", away
    yield "2.4.1.4, rollbacks", *share(orders.succeeded, orders.rolled_back, 0.01)
    query = "SELECT COUNT(*) FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id"
    yield "2.4.1.5, remote lines", *share(lines, read(query), 0.01)
    # those that were loaded are at home
    remote = read("SELECT COUNT(*) FROM history WHERE h_c_w_id <> h_w_id")
    yield "2.5.1.2, remote payments", *share(payments.succeeded, remote, 0.15)
    for operation in ("payment", "order_status"):
        by_name = next(one for one in totals[operation].statements if "c_first LIMIT" in one.sql)
        of = totals[operation].succeeded
        yield f"2.5.1.2, {operation} by last name", *share(of, by_name.executed, 0.6)


@main.command("killed")
@click.option("--tries", default=20)
@click.option("--seconds", default=3.0, help="How long the load runs before each kill.")
def killed(tries: int, seconds: float) -> None:
    """Kill the server in mid-run and check the conditions after it has recovered."""
    for name in ("mariadb", "postgres"):
        with prepared(name, 1) as (server, target, compiled):
            directory, port = server.directory, server.port
            broken = 0
            for _ in range(tries):
                token = plimsoll_engine.CancelToken()
                load = threading.Thread(
                    target=plimsoll_engine.run,
                    args=(spec(target, compiled, 10**9, 8).model_dump_json(), None, token),
                )
                load.start()
                load.join(seconds)
                server.kill()
                token.cancel()
                load.join()
                server = start(name, directory, port)  # noqa: PLW2901 - the same one again
                broken += any(one.breaches != 0 for one in check_conditions(target, compiled))
            server.stop()
            click.echo(f"{name}: killed {tries} times, conditions broken after {broken}")


if __name__ == "__main__":
    main()
