"""What is read of InnoDB's counters: growth, restarts, limits, and what is left to work off."""

import pytest

from plimsoll.databases import mysql
from plimsoll.databases.mysql.watching import compute_checkpoint_share
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.run.fleet import ServerCounters
from plimsoll.model.run.results import ServerWaits

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


def test_mariadb_counts_the_writes_of_its_log_apart() -> None:
    log = {"Innodb_log_writes": 3000, "Innodb_os_log_written": 10 * 2**20}

    def rates(**also: int) -> tuple[float, float]:
        after = counters(10_000, **IO, **log, **also)
        found = mysql.storage_rates(
            mysql.server_figures(counters(), after, statements_by_clients=None)
        )
        assert found is not None
        return found.iops, found.mib_s

    assert rates() == (1300, 17)
    assert rates(Innodb_os_log_fsyncs=500) == (1000, 16)  # MySQL: they are among the others


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
        Innodb_history_list_length=2000,
    )
    figures = mysql.server_figures(counters(), after, statements_by_clients=None)
    assert mysql.signs_of_limits(figures) == [
        "1 wait for room in the log buffer",
        "30 % of the buffer pool's pages were dirty at its end",
        "2,000 transactions waited for the purge at its end",
    ]


def test_its_counters_tell_of_waits() -> None:
    """MariaDB's, which has no count of its log's flushes, then MySQL's, which times its waits."""
    grown = {
        "Innodb_row_lock_time": 2500, "Innodb_row_lock_waits": 7, "Table_locks_waited": 3,
        READS: 40, "Handler_commit": 900, "Innodb_log_writes": 800, "Innodb_data_fsyncs": 820,
        "max_connections": 10,
    }  # fmt: skip
    waits = mysql.waits(
        mysql.server_figures(counters(), counters(1000, **grown), statements_by_clients=None)
    )
    assert waits == ServerWaits(
        row_locks_s=2.5, row_lock_waits=7, table_lock_waits=3, page_reads=40, commits=900,
        log_flushes=800, connections_max=10,
    )  # fmt: skip
    timed = {
        "Innodb_os_log_fsyncs": 600, "wait_us_table_locks": 250_000, "wait_us_log_io": 1_500_000,
        "wait_us_data_reads": 500_000,
    }  # fmt: skip
    waits = mysql.waits(
        mysql.server_figures(counters(), counters(1000, **timed), statements_by_clients=None)
    )
    assert waits == ServerWaits(table_locks_s=0.25, page_reads_s=0.5, log_flushes=600, log_io_s=1.5)


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ({"Innodb_checkpoint_age": 90, "Innodb_checkpoint_max_age": 100}, 0.9),
        (
            {
                "Innodb_redo_log_current_lsn": 1600,
                "Innodb_redo_log_checkpoint_lsn": 1000,
                "Innodb_redo_log_capacity_resized": 1000,
            },
            0.6,
        ),
        ({"Innodb_checkpoint_age": 90, "Innodb_checkpoint_max_age": 0}, None),
        ({}, None),
    ],
)
def test_how_full_a_redo_log_is(values: dict[str, int], share: float | None) -> None:
    assert compute_checkpoint_share(values) == share


@pytest.mark.parametrize(
    ("values", "left"),
    [
        ({}, None),
        ({"Threads_running": 3}, None),
        ({"Threads_running": 4}, "4 statements are still running"),
        ({"Innodb_history_list_length": 500}, None),
        ({"Innodb_history_list_length": 6500}, "6,500 transactions wait for the purge"),
        # not waited for: what it lends is judged with each window
        ({"Innodb_checkpoint_age": 75, "Innodb_checkpoint_max_age": 100}, None),
    ],
)
def test_what_a_server_has_to_work_off(values: dict[str, int], left: str | None) -> None:
    work = mysql.find_unfinished_work(counters(**values))
    assert (work and work.what) == left


MARIADB = {
    "Innodb_checkpoint_age": 75,
    "Innodb_checkpoint_max_age": 100,
    "Innodb_lsn_current": 4000,
}
IOS = {"Innodb_data_reads": 100, "Innodb_data_writes": 200, "Innodb_log_writes": 300}
MYSQL = {
    "Innodb_redo_log_current_lsn": 1600,
    "Innodb_redo_log_checkpoint_lsn": 1000,
    "Innodb_redo_log_capacity_resized": 1000,
}


@pytest.mark.parametrize(
    ("values", "debt"),
    [
        (MARIADB, WriteDebt(owed_bytes=75, limit_bytes=100, written_bytes=4000)),
        (
            MARIADB | {"Innodb_buffer_pool_pages_dirty": 8},
            WriteDebt(owed_bytes=75, limit_bytes=100, written_bytes=4000, owed_pages=8),
        ),
        (
            MARIADB | {"Innodb_history_list_length": 7},
            WriteDebt(owed_bytes=75, limit_bytes=100, written_bytes=4000, unpurged=7),
        ),
        (MYSQL, WriteDebt(owed_bytes=600, limit_bytes=1000, written_bytes=1600)),
        (  # MariaDB counts writes of its log apart
            MARIADB | IOS,
            WriteDebt(owed_bytes=75, limit_bytes=100, written_bytes=4000, ios=600),
        ),
        (
            MYSQL | IOS | {"Innodb_os_log_fsyncs": 90},
            WriteDebt(owed_bytes=600, limit_bytes=1000, written_bytes=1600, ios=300),
        ),
        (MARIADB | {"Innodb_checkpoint_max_age": 0}, None),
        ({"Innodb_lsn_current": 4000}, None),  # MySQL before 8.0.30 reports no checkpoint
    ],
)
def test_what_a_server_owes_to_its_data_files(
    values: dict[str, int], debt: WriteDebt | None
) -> None:
    assert mysql.write_debt(counters(**values)) == debt
