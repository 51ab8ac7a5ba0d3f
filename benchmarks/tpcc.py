"""TPC-C by its own clauses: `python -m benchmarks.tpcc clauses` prints a Markdown table.

`draws` draws the variables of 100,000 transactions from the workload as it stands, without a
server, and holds them against the standard; NURand's numbers by chi-square.
`clauses` sends at least 100,000 transactions to MariaDB and PostgreSQL and counts, in the rows and
in the report, what the standard says of the mix, the lines, the rollbacks and the remote
warehouses. `killed` kills the server in mid-run, again and again, and checks the consistency
conditions each time.
"""

import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count as count_from
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
from plimsoll.model.engine.asked import EngineTarget, LoadSpec, RepeatStep
from plimsoll.model.engine.values import IntegerValue, Nurand, Value
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import Compiled, load_workload

CARDS = {"new_order": 10, "payment": 10, "order_status": 1, "delivery": 1, "stock_level": 1}
Server = MariaDbServer | PostgresServer
Clause = tuple[str, str, str, float]  # name, the standard's figure, the one found, their distance
LEAST_OF_A_CLASS = 20  # expected draws of a class of the chi-square test


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


def count(target: EngineTarget, report: LoadReport) -> Iterator[Clause]:
    """Each clause with the standard's figure, the one found, and their distance."""
    totals = report.operations
    sent = sum(one.succeeded for one in totals.values())
    orders, payments = totals["new_order"], totals["payment"]
    committed = orders.succeeded - orders.rolled_back

    def read(query: str) -> int:
        with family_of(target.protocol).open_datasets(target) as datasets:
            return datasets.read_number(query)  # type: ignore[attr-defined, no-any-return]

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


def share(of: int, found: int, meant: float) -> tuple[str, str, float]:
    """A share with the standard's, and how many standard errors it is away."""
    error = sqrt(of * meant * (1 - meant))
    return f"{meant:.2%}", f"{found / of:.2%} of {of:,}", (found - of * meant) / error


@main.command("draws")
@click.option("--transactions", default=100_000)
def draws(transactions: int) -> None:
    """Hold the variables of transactions against the standard, without a server."""
    click.echo("| clause | standard | found | standard errors away |")
    click.echo("|---|---|---|---|")
    for clause, standard, found, away in draw_clauses(transactions):
        click.echo(f"| {clause} | {standard} | {found} | {away:+.1f} |")


def draw_clauses(transactions: int) -> Iterator[Clause]:
    """Draw each variable of the workload that the standard says something of.

    Args:
        transactions: How many times each is drawn.
    """
    operations = {one.name: one for one in load_workload("tpcc").compile(4).engine.operations}
    seeds = count_from(1)  # equal seeds would give several variables the same numbers
    let = {(name, one.name): one.value for name, each in operations.items() for one in each.let}

    def drawn(operation: str, variable: str) -> list[int]:
        return draw_numbers(let[operation, variable], transactions, next(seeds))

    lines = drawn("new_order", "lines")
    assert (min(lines), max(lines)) == (5, 15)
    # the variance of a uniform draw of 11 numbers is 10
    away = (sum(lines) - 10 * transactions) / sqrt(10 * transactions)
    yield "2.4.1.3, lines of an order", "10", f"{sum(lines) / transactions:.3f}", away
    rolled_back = sum(drawn("new_order", "mistyped"))
    yield "2.4.1.4, rollbacks", *share(transactions, rolled_back, 0.01)
    # a bit for each line that another warehouse supplies, for orders of each number of lines
    remote = let["new_order", "remote"].model_dump_json()
    supplied = [
        bits.bit_count()
        for number, times in Counter(lines).items()
        for bits in draw_json(
            remote.replace(
                '{"kind":"variable","name":"lines"}', f'{{"kind":"number","value":{number}}}'
            ),
            times,
            next(seeds),
        )
    ]
    yield "2.4.1.5, remote lines", *share(sum(lines), sum(supplied), 0.01)
    paid = sum(drawn("payment", "remote"))
    yield "2.5.1.2, remote payments", *share(transactions, paid, 0.15)
    for operation in ("payment", "order_status"):
        named = sum(drawn(operation, "by_name"))
        yield f"2.5.1.2, {operation} by last name", *share(transactions, named, 0.6)
    (turns,) = (step for step in operations["new_order"].steps if isinstance(step, RepeatStep))
    item = turns.let[0].value
    numbers = {
        "items": getattr(item, "otherwise", item),
        "customers": let["new_order", "c_id"],
        "last names": getattr(let["payment", "c_last"], "of", None),
    }
    for name, value in numbers.items():
        assert isinstance(value, IntegerValue)
        chi_square, degrees = compare_with_nurand(
            value, draw_numbers(value, transactions, next(seeds))
        )
        # a chi-square has the mean `degrees` and the variance 2 * `degrees`
        away = (chi_square - degrees) / sqrt(2 * degrees)
        yield f"2.1.6, {name}, chi-square", f"{degrees:,}", f"{chi_square:,.0f}", away


def draw_numbers(value: Value, n: int, seed: int) -> list[int]:
    """Draw a value that is a whole number, as the engine binds it."""
    return draw_json(value.model_dump_json(), n, seed)


def draw_json(value: str, n: int, seed: int) -> list[int]:
    """Draw a value, given as JSON."""
    return [int(number) for number in plimsoll_engine.sample(value, "[]", seed, n)]


def compare_with_nurand(value: IntegerValue, drawn: Sequence[int]) -> tuple[float, int]:
    """Compare draws with clause 2.1.6's distribution.

    Returns:
        Chi-square, and its degrees of freedom. The rarest numbers are classes together.
    """
    ways = count_nurand_ways(value)
    seen, all_ways = Counter(drawn), sum(ways.values())
    assert set(seen) <= set(ways)
    classes: list[tuple[float, int]] = []
    expected, found = 0.0, 0
    for number, times in sorted(ways.items(), key=lambda item: item[1]):
        expected += len(drawn) * times / all_ways
        found += seen[number]
        if expected >= LEAST_OF_A_CLASS:
            classes.append((expected, found))
            expected, found = 0.0, 0
    return sum((found - meant) ** 2 / meant for meant, found in classes), len(classes) - 1


def count_nurand_ways(value: IntegerValue) -> Counter[int]:
    """Count in how many ways NURand(A, x, y) gives each number.

    It is (((random(0, A) | random(x, y)) + C) % (y - x + 1)) + x, and A + 1 a power of two, so that
    A's bits are set below one place, and what is above it is the second number's own.
    """
    assert isinstance(value.distribution, Nurand)
    a, c = value.distribution.a, value.distribution.c
    span = value.high - value.low + 1
    ways: Counter[int] = Counter()

    def add(either: int, times: int) -> None:
        ways[(either + c) % span + value.low] += times

    for above in range(value.low & ~a, value.high + 1, a + 1):
        low, high = max(value.low - above, 0), min(value.high - above, a)
        if (low, high) == (0, a):
            for bits in range(a + 1):  # each set bit comes from the one, the other, or both
                add(above + bits, 3 ** bits.bit_count())
            continue
        for bits in range(low, high + 1):
            free = more = a & ~bits
            while True:
                add(above + (bits | more), 2 ** bits.bit_count())
                if not more:
                    break
                more = (more - 1) & free
    return ways


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
