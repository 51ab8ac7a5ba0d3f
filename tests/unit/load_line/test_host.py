"""A database on this machine is one of the search's own processes, under whatever address."""

import os

import pytest

from plimsoll.load_line import machine as module
from plimsoll.load_line.machine import Host, choose_poll_us, choose_threads
from plimsoll.machine import CpuTimes
from plimsoll.model.engine.asked import POLL_US
from plimsoll.model.request.dsn import parse_dsn
from tests.support.synthetic_run import synthetic_run


@pytest.mark.parametrize(
    ("address", "found", "shared", "ours"),
    [
        ("127.0.0.1", {77}, True, {os.getpid(), 77}),
        ("localhost", {77}, True, {os.getpid(), 77}),
        ("0.0.0.0", {77}, True, {os.getpid(), 77}),
        ("127.0.0.1", set(), True, set()),  # a container's, say: the server behind it is not known
        ("192.0.2.1", {77}, False, {os.getpid()}),  # for documentation alone: RFC 5737
    ],
)
def test_whose_processor_time_is_no_others(
    monkeypatch: pytest.MonkeyPatch, address: str, found: set[int], shared: bool, ours: set[int]
) -> None:
    monkeypatch.setattr(module, "servers", lambda *_: found)
    seen = Host.of(parse_dsn(f"mysql://u@{address}/d"))
    assert (seen.shared, set(seen.ours)) == (shared, ours)


@pytest.mark.parametrize(
    ("address", "threads", "polls_us"),
    [
        ("192.0.2.1", 1, POLL_US),
        ("192.0.2.1", 2, 0),  # no processor is left for anyone else
        ("127.0.0.1", 1, 0),  # the database has the others
    ],
)
def test_clients_poll_only_on_processors_of_their_own(
    monkeypatch: pytest.MonkeyPatch, address: str, threads: int, polls_us: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert choose_poll_us(parse_dsn(f"mysql://u@{address}/d"), threads) == polls_us


@pytest.mark.parametrize(
    ("address", "load", "processors", "threads"),
    [
        ("127.0.0.1", (8, None), {0, 1, 2, 3}, 2),
        ("127.0.0.1", (8, None), {0}, 1),
        ("127.0.0.1", (1, None), {0, 1}, 1),  # no thread is without a connection
        ("127.0.0.1", (8, 100.0), {0, 1}, 1),  # it waits for due times
        ("192.0.2.1", (8, None), {0, 1}, 1),  # a processor is left to poll with
    ],
)
def test_two_threads_send_where_the_database_has_the_same_processors(
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    load: tuple[int, float | None],
    processors: set[int],
    threads: int,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: processors)
    target = parse_dsn(f"mysql://u@{address}/d")
    assert choose_threads(target, *load) == threads


def looked(server: tuple[int | None, int | None]) -> list[CpuTimes | None]:
    """Ten seconds, in which others had a tenth of this machine's time and nobody three."""
    return [
        CpuTimes(0, 0, 0, 0, server=server[0], at_s=100.0),
        CpuTimes(1000, 50, 300, 100, server=server[1], at_s=110.0),
    ]


def test_the_processor_time_of_a_server_on_this_machine_is_the_targets() -> None:
    seen = Host(shared=True, servers=frozenset({77}), _looks=looked((500, 500 + 600)))
    step = seen.add_figures(synthetic_run()[0].steps[0])
    assert step.target is not None
    assert step.target.period_s == 10
    assert step.target.cpu_percent == pytest.approx(60)
    of_machine = {
        "host_idle_percent": 30.0,
        "host_others_percent": 10.0,
        "host_stolen_percent": 5.0,
    }
    for name, percent in of_machine.items():
        assert getattr(step.step, name) == getattr(step.target, name) == pytest.approx(percent)


@pytest.mark.parametrize("server", [(None, None), (500, None)])
def test_a_server_that_is_not_seen_has_no_figure(server: tuple[int | None, int | None]) -> None:
    step = synthetic_run()[0].steps[0].model_copy(update={"target": None})
    seen = Host(shared=True, servers=frozenset(), _looks=looked(server)).add_figures(step)
    assert seen.target is None
    assert seen.step.host_idle_percent == pytest.approx(30)
    assert seen.step.host_others_percent is None  # the server's time is among that of others
