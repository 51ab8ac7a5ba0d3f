"""`import plimsoll` on a real MariaDB: docs/python.md as it stands, interrupts and refusals."""

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from signal import SIGINT, default_int_handler, getsignal, raise_signal, signal
from typing import Any

import pytest

import plimsoll
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.load_line import options, search_loop
from plimsoll.load_line.outcome import write_result
from plimsoll.model.request.dsn import parse_dsn
from tests.support.synthetic_run import synthetic_run

PAGE = (Path(__file__).parents[3] / "docs/python.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
BRIEF: dict[str, Any] = {
    "workload": "ycsb-c",
    "prepare": True,
    "records": 300,
    "limits": "10s",
    "max_connections": 2,
    "warm_s": 0,
    "warmup_s": 0,
    "duration_s": 0.5,
    "quick": True,
    "audits_off": ["undisturbed"],  # tests beside it keep the machine busy
}


def tables_of(dsn: str) -> set[str]:
    with closing(connect(parse_dsn(dsn))) as connection:
        return {str(row[0]) for row in execute(connection, "SHOW TABLES")}


@pytest.mark.whole
def test_the_page_is_true_from_its_first_block_to_its_last(
    fresh_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(options, "QUICK", replace(options.QUICK, warmup_s=0.0, duration_s=0.5))
    # tests beside it keep the machine busy
    monkeypatch.setattr(search_loop, "waits_for_machine", lambda _: False)
    monkeypatch.setenv("PLIMSOLL_DSN", fresh_database)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    assert len(BLOCKS) == 10
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), names)
    told = capsys.readouterr().out
    assert "step 1: 1 client, 1 connection" in told
    assert "limits: unknown operation 'raed'; did you mean 'read'? (allowed: read, update)" in told
    assert isinstance(names["result"], plimsoll.Result)
    assert len(names["steps"]) == len(names["result"].steps) > 0
    assert names["page"].is_file()
    assert isinstance(names["body"], str)


def test_each_name_stands_in_the_table_of_the_page() -> None:
    table = PAGE.partition("| name |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", table)) == set(dir(plimsoll)) - {"__version__"}


@pytest.fixture
def interrupts_reach_python() -> Any:
    """Tests that run in the background ignore Ctrl-C."""
    before = signal(SIGINT, default_int_handler)
    yield
    signal(SIGINT, before)


def press_ctrl_c(_: plimsoll.Progress) -> None:
    raise_signal(SIGINT)


def raise_it(_: plimsoll.Progress) -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("interrupts_reach_python")
@pytest.mark.parametrize("interrupt", [press_ctrl_c, raise_it])
def test_an_interrupt_gives_the_answer_so_far(
    fresh_database: str, interrupt: Callable[[plimsoll.Progress], None]
) -> None:
    plimsoll.prepare(fresh_database, workload="ycsb-c", records=300)

    def progress(happened: plimsoll.Progress) -> None:
        if happened.result is not None and happened.step == 2:
            interrupt(happened)

    result = plimsoll.find(fresh_database, **BRIEF, progress=progress)
    assert (result.state, len(result.steps)) == ("STOPPED", 2)
    assert result.failure is not None
    assert result.failure.cause == "interrupted"
    assert result.capacity is not None
    assert result.capacity.steps  # which verdict, a busy machine decides
    assert getsignal(SIGINT) is default_int_handler


def test_in_another_thread_it_searches_and_is_stopped_too(fresh_database: str) -> None:
    threads = set()

    def progress(happened: plimsoll.Progress) -> None:
        threads.add(threading.current_thread())
        if happened.result is not None:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(lambda: plimsoll.find(fresh_database, **BRIEF, progress=progress))
        assert len(search.result().steps) == 1
    assert threading.main_thread() not in threads
    assert len(threads) == 1


def test_what_it_made_it_drops_where_asked(fresh_database: str) -> None:
    seen: list[str] = []
    result = plimsoll.find(
        fresh_database, **BRIEF, drop=True, progress=lambda happened: seen.append(str(happened))
    )
    assert result.rows == 300
    assert "300 of 300 rows" in seen
    assert tables_of(fresh_database) == set()


def test_a_load_that_is_interrupted_has_measured_until_then(fresh_database: str) -> None:
    counted = plimsoll.prepare(fresh_database, workload="ycsb-c", records=300)
    assert counted == {"usertable": 300}
    told: list[str] = []

    def progress(happened: plimsoll.Progress) -> None:
        told.append(happened.text)
        raise KeyboardInterrupt

    measured = plimsoll.load(
        fresh_database, workload="ycsb-c", warmup_s=0, duration_s=600, progress=progress
    )
    assert measured.report.ended == "cancelled"
    assert measured.report.window_s < 600
    assert measured.throughput_ops_per_second
    assert measured.latency_us["read"]["p99"]
    assert told[0].startswith("second 1: ")
    assert measured.to_frame()["operation"].tolist() == ["read"]
    password = parse_dsn(fresh_database).password
    assert f'"{password}"' not in measured.to_json()


def test_what_is_not_there_is_said_without_options_of_the_command_line(
    fresh_database: str,
) -> None:
    lacking = {**BRIEF, "prepare": False, "records": None}
    with pytest.raises(plimsoll.UsageError) as raised:
        plimsoll.find(fresh_database, **lacking)
    assert "has no dataset of ycsb-c that Plimsoll made: prepare makes one" in str(raised.value)
    with pytest.raises(plimsoll.PlimsollError) as raised_by_load:
        plimsoll.load(fresh_database, workload="ycsb-c")
    assert "or give the number of records if another tool has made it" in str(raised_by_load.value)
    wrong = re.sub(r"//[^@]*@", "//nobody:s3cret@", fresh_database)
    for call in (plimsoll.find, plimsoll.load, plimsoll.prepare):
        with pytest.raises(plimsoll.PlimsollError) as refused:
            call(wrong, workload="ycsb-c")
        assert "s3cret" not in str(refused.value)
        assert type(refused.value).__module__ == "plimsoll.errors"
        assert refused.value.__suppress_context__
    assert tables_of(fresh_database) == set()


def test_a_result_is_read_and_a_database_loaded_before_a_search(
    fresh_database: str, tmp_path: Path
) -> None:
    """No package that either of them imports may hide `plimsoll.find`."""
    write_result(tmp_path / "run", *synthetic_run())
    assert plimsoll.read_result(tmp_path / "run").capacity is not None
    plimsoll.prepare(fresh_database, workload="ycsb-c", records=300)
    loaded = plimsoll.load(fresh_database, workload="ycsb-c", warmup_s=0, duration_s=0.5)
    assert loaded.throughput_ops_per_second
    assert callable(plimsoll.find)
    result = plimsoll.find(fresh_database, **BRIEF)
    assert result.steps
    assert not (Path(plimsoll.__file__).parent / "find").exists()


def test_a_rule_that_is_broken_ends_the_search(fresh_database: str) -> None:
    result = plimsoll.find(fresh_database, **BRIEF, stop_if="p99 > 1us")
    assert result.state == "STOPPED"
    assert result.capacity is None
    assert result.failure is not None
    assert "(stop rule 'p99 > 1us')" in result.failure.cause
