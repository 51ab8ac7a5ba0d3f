"""Two loads at the same time on separate processors: whether that is possible, and running them.

What disturbs one of two loads that run at the same time disturbs the other one as well, and cancels
in their ratio, if neither takes processors from the other: a duet (Bulej and others 2020, "Duet
Benchmarking: Improving Measurement Accuracy in the Cloud", ICPE).
"""

import os
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import plimsoll_engine
from plimsoll import words
from plimsoll.load_line.clients import LOOK_S, compute_local_barrier_ms, end_on_signals
from plimsoll.load_line.load import Loaded
from plimsoll.load_line.machine import is_this_machine
from plimsoll.model.engine.asked import EngineTarget

HERE = ""
_TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology/core_cpus_list"
Meet = Callable[[], int]  # waits for the other load; returns when both begin, in ms of the epoch


@dataclass(frozen=True)
class Place:
    """Where a target's server runs.

    Attributes:
        machine: Address of its machine; `HERE` if it is this one.
        port: The port that it listens on.
        hidden: Whether other servers may stand behind it: it is a pooler or belongs to a cluster.
    """

    machine: str
    port: int
    hidden: bool = False


def find_place(target: EngineTarget, *, pooled: bool) -> Place:
    """Find out on which machine a target's server runs."""
    machine = HERE
    if not is_this_machine(target.host):
        try:
            machine = str(socket.getaddrinfo(target.host, target.port)[0][4][0])
        except OSError:
            machine = target.host
    return Place(machine, target.port, hidden=pooled or target.protocol == "cql")


def explain_sharing(places: tuple[Place, Place], cores: int) -> str | None:
    """Return what two loads at the same time would share; None if each has cores of its own.

    Args:
        places: The place of each server.
        cores: The number of this machine's cores that this process may use.
    """
    first, second = places
    for name, place in zip("AB", places, strict=True):
        if place.hidden:
            return f"{name} is a pooler or part of a cluster, and servers behind it may be shared"
    if (first.machine, first.port) == (second.machine, second.port):
        return "both are one server"
    if first.machine == second.machine != HERE:
        return f"both servers run on {first.machine}"
    servers = _count_local(places)
    if cores < 2 + servers:
        return (
            f"two clients and {words.format_count(servers, 'server')} on this machine need"
            f" {2 + servers} cores, and {cores} can be used"
        )
    return None


def _count_local(places: tuple[Place, Place]) -> int:
    return sum(place.machine == HERE for place in places)


def list_cores() -> list[frozenset[int]]:
    """List the cores that this process may use, each as the processors (threads) of it."""
    cores: dict[str, frozenset[int]] = {}
    for processor in sorted(os.sched_getaffinity(0)):
        try:
            core = Path(_TOPOLOGY.format(processor)).read_text()
        except OSError:  # not told, as in some containers
            core = str(processor)
        cores[core] = cores.get(core, frozenset()) | {processor}
    return list(cores.values())


def divide_cores(
    cores: Sequence[frozenset[int]], places: tuple[Place, Place]
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the processors of both clients; as many are left for each server that is here."""
    share = len(cores) // (2 + _count_local(places))
    none: frozenset[int] = frozenset()
    return none.union(*cores[:share]), none.union(*cores[share : 2 * share])


def run_together(
    load: Callable[[int, Meet, plimsoll_engine.CancelToken], Loaded],
    processors: tuple[frozenset[int], frozenset[int]],
    connections: int,
) -> tuple[Loaded, Loaded]:
    """Run two loads at the same time, each on processors of its own. If one ends, both do.

    Args:
        load: Runs the load of a number, 0 or 1, from the moment that both have met at.
        processors: The processors of each load's client.
        connections: The connections of both, which open before the loads begin.

    Raises:
        KeyboardInterrupt: A signal came before the loads began; later the reports tell it.
    """
    tokens = (plimsoll_engine.CancelToken(), plimsoll_engine.CancelToken())
    begins_ms = 0

    def choose_begin() -> None:
        nonlocal begins_ms
        begins_ms = compute_local_barrier_ms(connections)

    both = Barrier(2, choose_begin)

    def meet() -> int:
        both.wait()
        return begins_ms

    def end() -> None:
        both.abort()
        for token in tokens:
            token.cancel()

    def run(number: int) -> Loaded:
        os.sched_setaffinity(0, processors[number])  # of this thread; its own inherit it
        try:
            return load(number, meet, tokens[number])
        except BaseException:
            end()
            raise

    with ThreadPoolExecutor(2) as pool, end_on_signals(end):
        first, second = (pool.submit(run, number) for number in (0, 1))
        try:
            while wait((first, second), timeout=LOOK_S).not_done:
                pass  # signals are handled between the waits
        finally:  # also reached at a signal that raises: the loads must not go on
            end()
    return _take_results(first, second)


def _take_results(first: Future[Loaded], second: Future[Loaded]) -> tuple[Loaded, Loaded]:
    """Return both reports, or raise what ended the loads."""
    failures = [error for one in (first, second) if (error := one.exception())]
    for error in failures:
        if not isinstance(error, BrokenBarrierError):  # that only says that the other has ended
            raise error
    if failures:
        raise KeyboardInterrupt
    return first.result(), second.result()
