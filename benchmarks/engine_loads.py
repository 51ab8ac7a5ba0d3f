"""What the benchmarks of the engine share: loads, servers on a core of their own, options."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from benchmarks.engine_clients import ROWS
from benchmarks.measuring import SERVER_CORE
from plimsoll.model.engine.asked import (
    ClosedLoop,
    EngineOperation,
    EngineStatement,
    EngineTarget,
    EngineWorkload,
    KeySpace,
    LoadSpec,
    Protocol,
)
from plimsoll.model.engine.values import KeyValue

PROJECT = Path(__file__).parents[1]
repeat = click.option("--repetitions", default=3, show_default=True)
length = click.option("--seconds", default=3, show_default=True)


def point_select(target: EngineTarget, connections: int, seconds: int) -> LoadSpec:
    """The oltp_point_select of sysbench with uniform keys."""
    bind = "$1" if target.protocol == "postgres" else "?"
    statement = EngineStatement(
        sql=(f"SELECT c FROM sbtest1 WHERE id={bind}",),  # noqa: S608 - ours
        binds=(KeyValue(key_space="rows"),),
    )
    workload = EngineWorkload(
        key_spaces=(KeySpace(name="rows", first=1, records=ROWS),),
        operations=(EngineOperation(name="point_select", weight=1, statements=(statement,)),),
    )
    return closed(target, workload, connections, seconds)


def closed(
    target: EngineTarget, workload: EngineWorkload, connections: int, seconds: int
) -> LoadSpec:
    """A closed loop without warm-up, since every client's whole run is counted."""
    return LoadSpec(
        target=target,
        workload=workload,
        connections=connections,
        loop=ClosedLoop(),
        duration_s=seconds,
    )


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """What is started here runs on one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def build_examples() -> None:
    """Build the servers of engine/examples."""
    examples = ["cargo", "build", "--quiet", "--release", "--locked", "--examples"]
    subprocess.run(examples, cwd=PROJECT / "engine", check=True)


@contextmanager
def canned(protocol: Protocol, example: str, *arguments: str) -> Iterator[EngineTarget]:
    """A server of engine/examples on its core, which answers at once and takes any login."""
    program = PROJECT / "engine/target/release/examples" / example
    with pinned(SERVER_CORE):
        server = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield EngineTarget(
            protocol=protocol,
            host="127.0.0.1",
            port=int(server.stdout.readline()),
            user="u",
            password="p",  # noqa: S106 - it takes any
            database="d",
        )
    finally:
        server.kill()
        server.wait()
