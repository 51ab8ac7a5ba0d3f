"""TPC-C by its own clauses: `python -m benchmarks.tpcc clauses` prints a Markdown table.

`draws` draws the variables of 100,000 transactions from the workload as it stands, without a
server, and holds them against the standard; NURand's numbers by chi-square.
`clauses` sends at least 100,000 transactions to MariaDB and PostgreSQL and counts, in the rows and
in the report, what the standard says of the mix, the lines, the rollbacks and the remote
warehouses. `killed` kills server or client in mid-run, again and again, and checks the consistency
conditions each time. `go-tpc` has the checks of go-tpc and Plimsoll read each other's rows, and
compares their throughput on the same rows where `--seconds` is above 0. It is built by
`go install github.com/pingcap/go-tpc/cmd/go-tpc@v1.0.12`.
"""

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count as count_from
from math import sqrt
from pathlib import Path
from random import Random
from typing import Literal

import click

import plimsoll_engine
from plimsoll.databases.conditions import check_conditions
from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.model.engine.values import IntegerValue, Nurand, Value
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import Compiled, load_workload

CARDS = {"new_order": 10, "payment": 10, "order_status": 1, "delivery": 1, "stock_level": 1}
Server = MariaDbServer | PostgresServer
Clause = tuple[str, str, str, float]  # name, the standard's figure, the one found, their distance
ITEMS = IntegerValue(low=1, high=100_000, distribution=Nurand(a=8191, c=7911))
SUMMARY = r"(?s)\[Summary\].+"  # the end of what go-tpc prints
LEAST_OF_A_CLASS = 20  # expected draws of a class of the chi-square test


def start(name: str, directory: Path, port: int | None = None) -> Server:
    """Start a server of this name."""
    if name == "mariadb":
        return MariaDbServer.start(directory=directory, port=port)
    return PostgresServer.start(directory=directory, port=port)


@contextmanager
def prepared(
    name: str, warehouses: int, workload: str = "tpcc"
) -> Iterator[tuple[Server, EngineTarget, Compiled]]:
    """A server with TPC-C's rows."""
    with (
        tempfile.TemporaryDirectory() as folder,
        start(name, Path(folder) / "data") as server,
    ):
        target = parse_dsn(server.dsn)
        compiled = load_workload(workload).compile(warehouses, {}, target.protocol)
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


def find_broken(target: EngineTarget, compiled: Compiled) -> list[str]:
    """Return the names of the conditions that the rows break, or that could not be checked."""
    return [one.name for one in check_conditions(target, compiled) if one.breaches != 0]


servers_option = click.option(
    "--server", "servers", multiple=True, default=("mariadb", "postgres"), show_default=True
)
workload_option = click.option("--workload", default="tpcc", show_default=True)


@click.group()
def main() -> None:
    """Measures TPC-C's transactions."""


@main.command("clauses")
@click.option("--transactions", default=100_000)
@click.option("--warehouses", default=4)
@click.option("--connections", default=8)
@servers_option
@workload_option
def clauses(
    transactions: int, warehouses: int, connections: int, servers: tuple[str, ...], workload: str
) -> None:
    """Count what the standard says of the transactions."""
    decks = -(-transactions // (connections * sum(CARDS.values())))
    click.echo("| server | clause | standard | found | standard errors away |")
    click.echo("|---|---|---|---|---|")
    for name in servers:
        with prepared(name, warehouses, workload) as (_, target, compiled):
            operations = decks * connections * sum(CARDS.values())
            sent = spec(target, compiled, operations, connections)
            report = LoadReport.model_validate_json(plimsoll_engine.run(sent.model_dump_json()))
            for clause, standard, found, away in count(target, report):
                click.echo(f"| {name} | {clause} | {standard} | {found} | {away:+.1f} |")
            broken = find_broken(target, compiled)
            click.echo(f"| {name} | 3.3.2, conditions broken | none | {broken or 'none'} | |")


def count(target: EngineTarget, report: LoadReport) -> Iterator[Clause]:
    """Each clause with the standard's figure, the one found, and their distance."""
    totals = report.operations
    sent = sum(one.succeeded for one in totals.values())
    orders, payments = totals["new_order"], totals["payment"]
    committed = orders.succeeded - orders.rolled_back

    def read(query: str) -> int:
        return read_number(target, query)

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
        # a stored procedure does not tell
        for by_name in (x for x in totals[operation].statements if "c_first LIMIT" in x.sql):
            of = totals[operation].succeeded
            yield f"2.5.1.2, {operation} by last name", *share(of, by_name.executed, 0.6)
    items: Counter[int] = Counter()
    for part in range(20):  # an answer has no 100,000 rows
        query = "SELECT ol_i_id, COUNT(*) FROM order_line WHERE ol_o_id > 3000"
        bought = execute(target, f"{query} AND ol_i_id % 20 = {part} GROUP BY ol_i_id")
        items.update({int(item): int(times) for item, times in bought})
    yield "2.1.6, items, chi-square", *tell_chi_square(*compare_with_nurand(ITEMS, items))


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
    (order_lines,) = operations["new_order"].lists
    item = order_lines.let[0].value
    numbers = {
        "items": getattr(item, "otherwise", item),
        "customers": let["new_order", "c_id"],
        "last names": getattr(let["payment", "c_last"], "of", None),
    }
    for name, value in numbers.items():
        assert isinstance(value, IntegerValue)
        drawn_numbers = Counter(draw_numbers(value, transactions, next(seeds)))
        compared = compare_with_nurand(value, drawn_numbers)
        yield f"2.1.6, {name}, chi-square", *tell_chi_square(*compared)


def draw_numbers(value: Value, n: int, seed: int) -> list[int]:
    """Draw a value that is a whole number, as the engine binds it."""
    return draw_json(value.model_dump_json(), n, seed)


def draw_json(value: str, n: int, seed: int) -> list[int]:
    """Draw a value, given as JSON."""
    return [int(number) for number in plimsoll_engine.sample(value, "[]", seed, n)]


def tell_chi_square(chi_square: float, degrees: int) -> tuple[str, str, float]:
    """A chi-square with its mean, and how many standard deviations it is away."""
    # the mean of a chi-square is its degrees of freedom, and its variance is twice that
    return f"{degrees:,}", f"{chi_square:,.0f}", (chi_square - degrees) / sqrt(2 * degrees)


def compare_with_nurand(value: IntegerValue, seen: Counter[int]) -> tuple[float, int]:
    """Compare draws with clause 2.1.6's distribution.

    Args:
        value: What they were drawn from.
        seen: How often each number was drawn.

    Returns:
        Chi-square, and its degrees of freedom. The rarest numbers are classes together.
    """
    ways = count_nurand_ways(value)
    draws, all_ways = seen.total(), ways.total()
    assert set(seen) <= set(ways)
    classes: list[tuple[float, int]] = []
    expected, found = 0.0, 0
    for number, times in sorted(ways.items(), key=lambda item: item[1]):
        expected += draws * times / all_ways
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


# A client that tells each second of its load
CLIENT = """
import sys, plimsoll_engine
plimsoll_engine.run(sys.stdin.read(), lambda second: print(second, flush=True))
"""


def kill_in_mid_run(
    server: Server, sent: LoadSpec, what: Literal["server", "client"], after_s: float = 0.0
) -> None:
    """Kill server or client (SIGKILL) while a load of another process is at work.

    Args:
        server: The server.
        sent: The load.
        what: What is killed first; the client is dead at the end in any case.
        after_s: How long new orders have been at work then, in seconds.
    """
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with client:
        assert client.stdin is not None
        assert client.stdout is not None
        try:
            client.stdin.write(sent.model_dump_json())
            client.stdin.close()
            next(line for line in client.stdout if "new_order" in line)
            time.sleep(after_s)
            if what == "server":
                server.kill()
        finally:
            client.kill()


@main.command("killed")
@click.option("--tries", default=20)
@servers_option
@workload_option
def killed(tries: int, servers: tuple[str, ...], workload: str) -> None:
    """Kill server and client in mid-run, and check the conditions each time."""
    click.echo("| server | killed | tries | new orders | with broken conditions |")
    click.echo("|---|---|---|---|---|")
    chance = Random(1)  # noqa: S311 - when to kill
    for name in servers:
        with prepared(name, 1, workload) as (server, target, compiled):
            directory, port = server.directory, server.port
            orders_query = "SELECT COUNT(*) FROM orders"
            for what in ("server", "client"):
                broken, before = 0, read_number(target, orders_query)
                for number in range(tries):
                    sent = spec(target, compiled, 10**9, 8).model_copy(update={"seed": number})
                    kill_in_mid_run(server, sent, what, chance.uniform(0, 2))
                    if what == "server":
                        server = start(name, directory, port)  # noqa: PLW2901 - the same again
                    broken += bool(find_broken(target, compiled))
                orders = read_number(target, orders_query) - before
                click.echo(f"| {name} | {what} | {tries} | {orders:,} | {broken} |")
            server.stop()


def execute(target: EngineTarget, sql: str) -> Sequence[Sequence[int]]:
    """Execute a statement, and return its rows."""
    with find_family(target.protocol).open_datasets(target) as datasets:
        return datasets._execute(sql)  # type: ignore[attr-defined, no-any-return]  # noqa: SLF001


def read_number(target: EngineTarget, query: str) -> int:
    """Return the first column of a query's first row."""
    return int(execute(target, query)[0][0])


@main.command("go-tpc")
@click.option("--program", default="go-tpc", show_default=True)
@click.option("--seconds", default=0, help="Length of each load of the comparison; 0 for none.")
@click.option("--repetitions", default=3)
@servers_option
def compare_with_go_tpc(
    program: str, seconds: int, repetitions: int, servers: tuple[str, ...]
) -> None:
    """Have go-tpc and Plimsoll check each other's rows, and compare their throughput."""
    click.echo("| server | rows by | after | go-tpc's check | Plimsoll's conditions |")
    click.echo("|---|---|---|---|---|")
    for name in servers:
        check_each_other(name, program, seconds, repetitions)


def check_each_other(name: str, program: str, seconds: int, repetitions: int) -> None:
    """Print a row for each state of the rows, and compare throughput if that is asked for."""
    with tempfile.TemporaryDirectory() as folder, start(name, Path(folder) / "data") as server:
        target = parse_dsn(server.dsn)
        compiled = load_workload("tpcc").compile(1, {}, target.protocol)

        def check(whose: str, after: str, *options: str) -> None:
            theirs = ", ".join(call_go_tpc(program, target, "check", *options)) or "passes"
            ours = find_broken(target, compiled) or "all hold"
            click.echo(f"| {name} | {whose} | {after} | {theirs} | {ours} |")

        # without it, go-tpc's tenth check reads all of `history` for each customer
        index = "CREATE INDEX of_customer ON history (h_c_w_id, h_c_d_id, h_c_id)"
        call_go_tpc(program, target, "prepare", "--no-check")
        execute(target, index)
        check("go-tpc", "its prepare", "--check-all")
        call_go_tpc(program, target, "run", "-T", "8", "--count", "4000")
        check("go-tpc", "4,000 of its transactions")
        call_go_tpc(program, target, "cleanup")
        prepare_dataset(target, compiled, connections=8)
        execute(target, index)
        check("Plimsoll", "its prepare", "--check-all")
        plimsoll_engine.run(spec(target, compiled, 23 * 8 * 20, 8).model_dump_json())
        check("Plimsoll", f"{23 * 8 * 20:,} of its transactions")
        if seconds:
            compare_throughput(program, target, compiled, seconds, repetitions)
            check("Plimsoll", "transactions of both")


def compare_throughput(
    program: str, target: EngineTarget, compiled: Compiled, seconds: int, repetitions: int
) -> None:
    """Send the transactions of both programs to the same rows in turn, and print the ratios.

    The server counts the statements of each: a new order of go-tpc reads all its items in one
    statement, all its stock in another and inserts all its lines in a third.
    """
    click.echo(
        "\n| connections | Plimsoll, per minute | go-tpc | ratios"
        " | statements per transaction | go-tpc | ratios of statements |"
    )
    click.echo("|---|---|---|---|---|---|---|")
    if target.protocol == "postgres":
        execute(target, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
    for connections in (1, 8, 32):
        pairs: list[tuple[float, float, float, float]] = []
        for _ in range(repetitions):
            sent = spec(target, compiled, 10**9, connections)
            update = {"operations_limit": None, "duration_s": seconds, "statement_latencies": False}
            with counted(target) as own:
                text = plimsoll_engine.run(sent.model_copy(update=update).model_dump_json())
            report = LoadReport.model_validate_json(text)
            ours = sum(one.succeeded for one in report.operations.values()) * 60 / seconds
            time_limit = ("-T", str(connections), "--time", f"{seconds}s")
            weights = ("--weight", "44,44,4,4,4")
            with counted(target) as others:
                (summary,) = call_go_tpc(
                    program, target, "run", *time_limit, *weights, found=SUMMARY
                )
            theirs = count_transactions(summary) * 60 / seconds
            pairs.append((ours, theirs, own[0] * 60 / seconds, others[0] * 60 / seconds))
        rates, their_rates, *_ = zip(*pairs, strict=True)
        each = statistics.median(statements / rate for rate, _, statements, _ in pairs)
        their_each = statistics.median(statements / rate for _, rate, _, statements in pairs)
        ratios = " ".join(f"{ours / theirs:.2f}" for ours, theirs, *_ in pairs)
        of_statements = " ".join(f"{ours / theirs:.2f}" for *_, ours, theirs in pairs)
        click.echo(
            f"| {connections} | {statistics.median(rates):,.0f}"
            f" | {statistics.median(their_rates):,.0f} | {ratios} | {each:.1f} | {their_each:.1f}"
            f" | {of_statements} |"
        )


def count_transactions(summary: str) -> int:
    """Count the transactions of go-tpc's summary.

    Its own `tpmTotal` takes the time of each kind of transaction from the first of it on, so that
    one delivery at the end of a short run counts as thousands per minute.
    """
    counts = re.findall(r"^\[Summary\] (?!\w+_ERR)\w+ .*Count: (\d+)", summary, re.MULTILINE)
    return sum(map(int, counts))


@contextmanager
def counted(target: EngineTarget) -> Iterator[list[int]]:
    """Have the server count its statements; the list has their number at the end."""
    family, statements = find_family(target.protocol), [0]
    before = family.read_counters(target)
    yield statements
    after = family.read_counters(target)
    assert before is not None
    assert after is not None
    figures = family.server_figures(before, after, statements_by_clients=None)
    assert figures.statements_by_server is not None
    statements[0] = figures.statements_by_server


def call_go_tpc(
    program: str, target: EngineTarget, verb: str, *options: str, found: str = r"(.*failed.*)"
) -> list[str]:
    """Call go-tpc for one warehouse, and return what is found in its output: its failures."""
    reach = ["-H", target.host, "-P", str(target.port), "-U", target.user, "-D", target.database]
    parameters = ["--conn-params", "sslmode=disable"] if target.protocol == "postgres" else []
    login = ["-p", target.password] if target.password else []
    command = [program, "tpcc", verb, "-d", target.protocol, *reach, *login, *parameters]
    done = subprocess.run(
        [*command, "--warehouses", "1", *options], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise click.ClickException(f"go-tpc {verb}: {(done.stdout + done.stderr)[-500:]}")
    return re.findall(found, done.stdout)


if __name__ == "__main__":
    main()
