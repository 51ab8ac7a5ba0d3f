"""What is read of InnoDB's counters: growth, restarts, limits, and what is left to work off."""

import pytest

from plimsoll.families import mysql
from plimsoll.model.fleet import ServerCounters

READ_REQUESTS, READS = "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads"


def counters(epoch_ms: int = 0, **values: int) -> ServerCounters:
    return ServerCounters(epoch_ms=epoch_ms, values=values, family="mysql")


def test_what_a_server_did_is_the_growth_of_its_counters() -> None:
    before = counters(Uptime=10, Com_stmt_execute=1000, Threads_running=9)
    after = counters(2500, Uptime=13, Com_stmt_execute=1600, Threads_running=2)
    figures = mysql.server_figures(before, after, statements_by_clients=601)
    assert figures.interval_s == 2.5
    assert (figures.statements_by_server, figures.statements_by_clients) == (600, 601)
    assert figures.gauges == {"Threads_running": 2, "Uptime": 13}
    assert not figures.restarted
    assert figures.buffer_pool_miss_share is None  # it tells nothing of its buffer pool


def test_a_restarted_server_counts_from_nothing_and_no_statements_are_compared() -> None:
    before = counters(Uptime=100, Com_stmt_execute=1000)
    after = counters(1000, Uptime=5, Com_stmt_execute=40)
    figures = mysql.server_figures(before, after, statements_by_clients=500)
    assert figures.restarted
    assert (figures.statements_by_server, figures.statements_by_clients) == (40, None)


IO = {
    "Innodb_data_reads": 4_000,
    "Innodb_data_writes": 6_000,
    "Innodb_data_fsyncs": 500,
    "Innodb_data_read": 64 * 2**20,
    "Innodb_data_written": 96 * 2**20,
}


def test_its_counters_tell_of_its_storage() -> None:
    figures = mysql.server_figures(counters(), counters(10_000, **IO), statements_by_clients=None)
    rates = mysql.storage_rates(figures)
    assert rates is not None
    assert (rates.interval_s, rates.iops, rates.mib_s) == (10, 1000, 16)
    assert rates.fsyncs_per_second == 50


def test_of_its_storage_nothing_is_guessed() -> None:
    lacking = {name: value for name, value in IO.items() if name != "Innodb_data_read"}
    some = mysql.server_figures(counters(), counters(10_000, **lacking), statements_by_clients=None)
    assert mysql.storage_rates(some) is None
    before = counters(Uptime=9)
    anew = mysql.server_figures(
        before, counters(10_000, Uptime=1, **IO), statements_by_clients=None
    )
    assert mysql.storage_rates(anew) is None


def test_its_counters_tell_of_its_limits() -> None:
    after = counters(
        2000,
        **{READ_REQUESTS: 10_000, READS: 2500},
        Innodb_log_waits=1,
        Innodb_buffer_pool_wait_free=0,
        Innodb_row_lock_waits=1234,
        Innodb_buffer_pool_pages_dirty=300,
        Innodb_buffer_pool_pages_total=1000,
    )
    figures = mysql.server_figures(counters(), after, statements_by_clients=None)
    assert mysql.signs_of_limits(figures) == [
        "buffer pool: 25 % of requests missed it, 1,250 page reads/s",
        "1 wait for room in the log buffer",
        "1,234 waits for a row lock",
        "30 % of the buffer pool's pages were dirty at its end",
    ]


@pytest.mark.parametrize(
    ("values", "left"),
    [
        ({}, None),
        ({"Threads_running": 3}, None),
        ({"Threads_running": 4}, "4 statements are still running"),
        ({"Innodb_checkpoint_age": 50, "Innodb_checkpoint_max_age": 100}, None),
        (
            {"Innodb_checkpoint_age": 75, "Innodb_checkpoint_max_age": 100},
            "75 % of the redo log wait for their pages to be written",
        ),
        ({"Innodb_checkpoint_age": 75, "Innodb_checkpoint_max_age": 0}, None),
    ],
)
def test_what_a_server_has_to_work_off(values: dict[str, int], left: str | None) -> None:
    work = mysql.unfinished_work(counters(**values))
    assert (work and work.what) == left
