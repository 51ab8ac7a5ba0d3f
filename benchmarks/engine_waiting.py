"""How clients wait, and what that costs the server: `python -m benchmarks.engine_waiting PLACE`.

PLACE: pinned (the client on one core, the server on the other), unpinned (both on both). The engine
asleep between answers, and looking for them first, beside sysbench and go-ycsb on the same
statements, keys and tables, against MariaDB with all rows in memory. A ratio is one of neighbors in
time. Every sample goes to standard error as a line of JSON, with the server's CPU, the interrupts
between processors and the CPU that others had.
"""

import os
from collections.abc import Sequence
from functools import partial

import click

from benchmarks import engine_clients as clients
from benchmarks.comparison import (
    Client,
    Outcomes,
    client_cpu_us,
    cost,
    in_turn,
    print_beside,
    print_ratios,
    print_table,
    throughput,
)
from benchmarks.engine import database
from benchmarks.engine_clients import GO_YCSB_TABLE, ROWS
from benchmarks.engine_loads import closed, point_select
from benchmarks.measuring import CLIENT_CORE, SERVER_CORE
from plimsoll.complaints import Scalar
from plimsoll.model.engine.asked import (
    POLL_US,
    EngineOperation,
    EngineStatement,
    EngineTarget,
    EngineWorkload,
    KeySpace,
    LoadSpec,
)
from plimsoll.model.engine.values import FormatValue, KeyValue, Zipfian
from plimsoll.workload import load_workload

CONNECTIONS = (1, 8, 32, 64)
READS_PER_SECOND = {
    1: 8_000
}  # of go-ycsb, which ends after so many operations, not so many seconds
OTHERWISE = 25_000


def ycsb_c(target: EngineTarget, connections: int, seconds: int) -> LoadSpec:
    """Workload C as go-ycsb sends it: its statement, its keys in their order, its table."""
    fields = ",".join(f"FIELD{number}" for number in range(10))
    key = KeyValue(key_space="rows", distribution=Zipfian())
    statement = EngineStatement(
        sql=(f"SELECT {fields} FROM {GO_YCSB_TABLE} WHERE YCSB_KEY = ?",),  # noqa: S608 - ours
        binds=(FormatValue(template="user{}", of=(key,)),),
    )
    workload = EngineWorkload(
        key_spaces=(KeySpace(name="rows", first=0, records=ROWS),),
        operations=(EngineOperation(name="read", weight=1, statements=(statement,)),),
    )
    return closed(target, workload, connections, seconds)


def read_write(target: EngineTarget, connections: int, seconds: int) -> LoadSpec:
    """The oltp_read_write of sysbench with uniform keys, on the table that it has made."""
    settings: dict[str, Scalar] = {"tables": 1, "distribution": "uniform"}
    compiled = load_workload("sysbench-oltp-read-write").compile(ROWS, settings)
    return closed(target, compiled.engine_workload(), connections, seconds)


def engines(spec: LoadSpec, *, pinned: bool) -> dict[str, Client]:
    """The engine as it waits by default, as it polls, and with a thread for each of two cores."""
    ways = {
        "engine, sleeping": {},
        "engine, polling": {"poll_us": POLL_US},
    }
    if not pinned:
        ways |= {
            "engine, 2 threads": {"threads": 2},
            "engine, 2 threads, polling": {"threads": 2, "poll_us": POLL_US},
        }
    return {
        name: partial(clients.engine, spec.model_copy(update=way), pinned=pinned)
        for name, way in ways.items()
        if way.get("threads", 1) <= spec.connections
    }


def against_sysbench(
    target: EngineTarget, script: str, *, pinned: bool, seconds: int
) -> dict[tuple[str, int], Client]:
    """A script of sysbench's and the same by the engine."""
    made = point_select if script == "oltp_point_select" else read_write
    runs: dict[tuple[str, int], Client] = {}
    for n in CONNECTIONS:
        ours = engines(made(target, n, seconds), pinned=pinned)
        runs |= {(name, n): client for name, client in ours.items()}
        runs["sysbench", n] = partial(
            clients.sysbench, target, connections=n, seconds=seconds, script=script, pinned=pinned
        )
    return runs


def against_go_ycsb(
    target: EngineTarget, *, pinned: bool, seconds: int
) -> dict[tuple[str, int], Client]:
    """Workload C of go-ycsb and the same by the engine."""
    program = clients.build_go_ycsb()
    runs: dict[tuple[str, int], Client] = {}
    for n in CONNECTIONS if program is not None else ():
        ours = engines(ycsb_c(target, n, seconds), pinned=pinned)
        runs |= {(name, n): client for name, client in ours.items()}
        assert program is not None
        operations = seconds * READS_PER_SECOND.get(n, OTHERWISE)
        runs["go-ycsb", n] = partial(
            clients.go_ycsb, program, target, connections=n, operations=operations, pinned=pinned
        )
    return runs


def tell(title: str, outcomes: Outcomes, peer: str) -> None:
    """The tables of one workload; ratios are to the peer."""
    names = list(dict.fromkeys(name for name, _ in outcomes))
    costs = "client CPU in us per operation (operations per second)"
    print_table(f"{title}: {costs}", "connections", outcomes, dict.fromkeys(names, cost))
    print_beside(title, "connections", outcomes)
    pairs = [(name, peer) for name in names if name != peer]
    for what, figure in (("throughput", throughput), ("client CPU", client_cpu_us)):
        what_of = f"{title}: ratios of {what}"
        print_ratios(what_of, "connections", outcomes, pairs, figure=figure)


@click.command()
@click.argument("place", type=click.Choice(["pinned", "unpinned"]))
@click.option("--repetitions", default=5, show_default=True)
@click.option("--seconds", default=3, show_default=True)
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(["point_select", "read_write", "ycsb_c"]),
    help="Some of the three; by default all.",
)
def main(place: str, repetitions: int, seconds: int, only: Sequence[str]) -> None:
    """Measure the engine's ways of waiting beside its peers."""
    for problem in clients.install():
        click.echo(f"not measured: {problem}", err=True)
    pinned = place == "pinned"
    wanted = only or ("point_select", "read_write", "ycsb_c")
    with database(pinned_server=pinned) as target:
        clients.sysbench_prepare(target)
        clients.ycsb_tables(target, load_workload("ycsb-c").compile(ROWS))
        for name in ("point_select", "read_write"):
            if name in wanted:
                script = f"oltp_{name}"
                runs = against_sysbench(target, script, pinned=pinned, seconds=seconds)
                tell(f"{script}, {place}", in_turn(runs, repetitions), "sysbench")
        if "ycsb_c" in wanted:
            runs = against_go_ycsb(target, pinned=pinned, seconds=seconds)
            tell(f"ycsb-c, {place}", in_turn(runs, repetitions), "go-ycsb")


if __name__ == "__main__":
    assert len(os.sched_getaffinity(0) & {CLIENT_CORE, SERVER_CORE}) == 2, "it needs two cores"
    main()
