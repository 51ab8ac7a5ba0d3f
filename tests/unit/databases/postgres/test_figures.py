"""What is read of PostgreSQL's counters: growth, restarts, limits, and what is left to work off."""

import pytest

from plimsoll.databases import postgres
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.run.fleet import ServerCounters
from plimsoll.model.run.results import ServerLooks, ServerWaits

MIB = 2**20


def counters(epoch_ms: int = 0, **values: int) -> ServerCounters:
    return ServerCounters(epoch_ms=epoch_ms, values=values, family="postgres")


def test_what_a_server_did_is_the_growth_of_its_counters() -> None:
    before = counters(started_s=1, statements=1000, commits=7, blocks_read=10, blocks_hit=90)
    after = counters(
        2500, started_s=1, statements=1600, commits=9, blocks_read=20, blocks_hit=180, running=2
    )
    figures = postgres.server_figures(before, after, statements_by_clients=601)
    assert figures.interval_s == 2.5
    assert (figures.statements_by_server, figures.statements_by_clients) == (600, 601)
    assert figures.counters["commits"] == 2
    assert figures.gauges == {"started_s": 1, "running": 2}
    assert figures.buffer_pool_miss_share == 0.1
    assert not figures.restarted


def test_after_a_clean_restart_its_counters_go_on() -> None:
    figures = postgres.server_figures(
        counters(started_s=1, commits=100),
        counters(1000, started_s=2, commits=140),
        statements_by_clients=40,
    )
    assert figures.restarted
    assert (figures.counters["commits"], figures.statements_by_clients) == (40, None)


def test_a_counter_that_falls_without_a_restart_is_left_out_and_no_other() -> None:
    values = {"started_s": 1, "deadlocks": 500, "commits": 9, "statements_forgotten": 0}
    figures = postgres.server_figures(
        counters(**values, statements=1000),
        counters(1000, **{**values, "commits": 109, "statements_forgotten": 1}, statements=900),
        statements_by_clients=100,
    )
    assert not figures.restarted
    assert (figures.counters["commits"], figures.counters["deadlocks"]) == (100, 0)
    assert "statements" not in figures.counters
    assert (figures.statements_by_clients, figures.statements_by_server) == (100, None)
    assert postgres.signs_of_limits(figures) == []


def test_after_a_crash_they_begin_again() -> None:
    figures = postgres.server_figures(
        counters(started_s=1, commits=100),
        counters(1000, started_s=2, commits=40),
        statements_by_clients=40,
    )
    assert (figures.restarted, figures.counters["commits"]) == (True, 40)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"statements": 50}),  # the extension came in between
        ({"statements": 10, "statements_forgotten": 0}, {}),
        (
            {"statements": 10, "statements_forgotten": 0},
            {"statements": 50, "statements_forgotten": 1},  # some made room for others
        ),
    ],
)
def test_statements_of_which_it_may_have_forgotten_some_are_not_compared(
    before: dict[str, int], after: dict[str, int]
) -> None:
    figures = postgres.server_figures(
        counters(**before), counters(1, **after), statements_by_clients=40
    )
    assert figures.statements_by_server is None


def test_only_io_that_surely_reached_the_storage_is_told() -> None:
    grown = {
        "wal_writes": 3_000,
        "wal_flushes": 2_000,
        "wal_bytes": 60 * MIB,
        "checkpoint_buffers": 40 * MIB // 8192,
        "blocks_read": 10**9,  # from the system's memory, for all we know
    }
    figures = postgres.server_figures(
        counters(), counters(10_000, **grown), statements_by_clients=None
    )
    rates = postgres.storage_rates(figures)
    assert rates is not None
    assert (rates.iops, rates.mib_s, rates.fsyncs_per_second) == (316.0, 10.0, 200.0)
    assert not rates.whole
    del grown["wal_bytes"]
    lacking = postgres.server_figures(
        counters(), counters(10_000, **grown), statements_by_clients=None
    )
    assert postgres.storage_rates(lacking) is None


def test_its_waits_are_those_that_it_times_and_counts() -> None:
    grown = {"blocks_read": 50, "commits": 7, "wal_flushes": 5, "wal_io_us": 2_500_000}
    figures = postgres.server_figures(
        counters(), counters(1000, max_connections=97, **grown), statements_by_clients=None
    )
    assert postgres.waits(figures) == ServerWaits(
        page_reads=50, commits=7, log_flushes=5, log_io_s=2.5, connections_max=97
    )


def test_checkpoints_and_autovacuum_are_told() -> None:
    grown = {
        "checkpoints_requested": 2,
        "checkpoints_timed": 1,
        "checkpoint_buffers": 1200,
        "wal_full_pages": 900,
        "backend_writes": 30,
        "autovacuum_reads": 400,
        "deadlocks": 1,
    }
    figures = postgres.server_figures(
        counters(), counters(1000, **grown), statements_by_clients=None
    )
    looks = ServerLooks(
        looks=20, row_lock_waiters=0, table_lock_waiters=0, checkpoint_share=None,
        checkpoint_looks=12, autovacuum_workers=1.5, log_waiters=0.0,
    )  # fmt: skip
    assert postgres.signs_of_limits(figures.model_copy(update={"looks": looks})) == [
        "3 checkpoints began, 2 of them because max_wal_size was full",
        "checkpoints wrote 1,200 pages, and 900 whole pages went into the log behind them",
        "sessions had to write 30 pages to make room for others",
        "autovacuum read and wrote 400 pages",
        "1 deadlock",
        "a checkpoint was in progress in 12 of 20 samples",
        "1.50 autovacuum workers were at work, as a mean",
    ]


@pytest.mark.parametrize(
    ("values", "what", "left"),
    [
        ({"running": 1}, "1 statement still running", None),
        (
            {"autovacuum_workers": 2, "autovacuum_blocks_left": 5000},
            "2 autovacuum workers with 5,000 pages left",
            5000,
        ),
    ],
)
def test_what_is_left_to_work_off(values: dict[str, int], what: str, left: int | None) -> None:
    work = postgres.find_unfinished_work(counters(**values))
    assert work is not None
    assert (work.what, work.left) == (what, left)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"running": 0, "autovacuum_workers": 0},
        # not waited for: what it lends is judged with each window
        {"wal_bytes_since_checkpoint": 950 * MIB, "max_wal_bytes": 1000 * MIB},
    ],
)
def test_nothing_is_left_of_what_every_server_has(values: dict[str, int]) -> None:
    assert postgres.find_unfinished_work(counters(**values)) is None


def test_what_the_next_checkpoint_owes() -> None:
    values = {
        "wal_bytes_since_checkpoint": 500 * MIB,
        "max_wal_bytes": 1000 * MIB,
        "wal_position_bytes": 7000 * MIB,
    }
    assert postgres.write_debt(counters(**values)) == WriteDebt(
        owed_bytes=500 * MIB, limit_bytes=1000 * MIB, written_bytes=7000 * MIB
    )
    del values["wal_position_bytes"]
    assert postgres.write_debt(counters(**values)) is None
