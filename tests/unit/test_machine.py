"""This machine's processor time: what its hypervisor, other processes and nobody had of it; its
clock, where nobody set it, and where it is set back."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from plimsoll import machine
from plimsoll.cli.main import main
from plimsoll.errors import PlimsollError
from plimsoll.machine import (
    ClockWatch,
    CpuShares,
    CpuTimes,
    cpu_times,
    find_listeners,
    find_parent,
    measure_load,
    require_set_clock,
    servers,
    shares,
    watch_clock,
)

KERNEL_THREAD = 0x00200040
# pid: parent, flags, and the ticks of its own and of children that have ended. The run is 10: a
# command, its stand-in, and a target; 30 is another target of it, with a process of its own.
PROCESSES = {
    1: (0, 0x400000, 4),
    2: (0, KERNEL_THREAD, 3),
    3: (2, KERNEL_THREAD, 9),
    7: (1, 0x400000, 20),
    10: (7, 0x400000, 5),
    11: (10, 0x400000, 10),
    20: (11, 0x400000, 40),
    30: (11, 0x400000, 30),
    31: (30, 0x400000, 3),
}


class FakeTime:
    """The calendar and the monotonic clock of a machine, in seconds."""

    def __init__(self) -> None:
        self.calendar_s = 1_800_000_000.0
        self.monotonic_s = 100.0
        self.stands_still_s = 0.0  # once, after the calendar was read

    def time(self) -> float:
        read = self.calendar_s
        self.go(self.stands_still_s)
        self.stands_still_s = 0.0
        return read

    def monotonic(self) -> float:
        return self.monotonic_s

    def go(self, seconds: float, *, set_back_s: float = 0.0) -> None:
        self.monotonic_s += seconds
        self.calendar_s += seconds - set_back_s


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of which user, nice and system took 160 of 1000 ticks."""
    (tmp_path / "stat").write_text("cpu  100 10 50 800 20 1 4 15 90 9\ncpu0 1 2 3 4 5 6 7 8 9\n")
    for pid, (parent, flags, ticks) in PROCESSES.items():
        (tmp_path / str(pid)).mkdir()
        times = f"{ticks - 3} 1 1 1"
        (tmp_path / f"{pid}/stat").write_text(
            f"{pid} (a (name) of it) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {times} 20 0 1\n"
        )
    monkeypatch.setattr(machine, "_PROC", tmp_path)
    return tmp_path


@pytest.mark.usefixtures("proc")
def test_others_are_whoever_is_neither_of_the_run_nor_a_thread_of_the_kernels() -> None:
    of_the_run, of_the_kernel = 5 + 10 + 40 + 30 + 3, 3 + 9
    others = 160 - of_the_run - of_the_kernel
    assert cpu_times(run={10}) == CpuTimes(
        total=1000, stolen=15, idle=820, others=others, run=of_the_run
    )


@pytest.mark.usefixtures("proc")
def test_another_target_of_the_same_twin_is_a_stranger_with_all_that_it_runs() -> None:
    alone, beside = cpu_times(run={10}), cpu_times(run={10}, strangers={30})
    assert alone is not None
    assert beside is not None
    assert beside.others - alone.others == 30 + 3


@pytest.mark.usefixtures("proc")
def test_a_root_below_another_is_counted_once() -> None:
    assert cpu_times(run={10, 20}) == cpu_times(run={10})


def test_the_busiest_programs_outside_a_run_are_named(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 200 ticks others used 90, the run 60, a kernel thread 10."""
    for pid, name in {7: "shell", 20: "mariadbd", 31: "cc1", 30: "cc1", 3: "kworker"}.items():
        (proc / f"{pid}/comm").write_text(f"{name}\n")

    def go_on(_: float) -> None:
        (proc / "stat").write_text("cpu  200 10 110 820 20 1 4 35 90 9\n")
        for pid, used in {30: 40, 31: 30, 7: 20, 20: 60, 3: 10}.items():
            parent, flags, ticks = PROCESSES[pid]
            (proc / f"{pid}/stat").write_text(
                f"{pid} (a) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {ticks - 3 + used} 1 1 1 20 0 1\n"
            )

    monkeypatch.setattr("plimsoll.machine.time.sleep", go_on)
    load = measure_load({20})
    assert load is not None
    assert load.busiest == ("cc1 35 %", "shell 10 %")
    assert load.others_percent == pytest.approx(45)
    assert (load.idle_percent, load.stolen_percent) == pytest.approx((10, 10))


def test_a_process_that_ended_leaves_its_parent_only_what_it_used_meanwhile(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler of minutes ended within the look, which showed as 273 % of two cores."""
    for pid, name in {7: "make", 40: "cc1", 41: "as", 42: "sed"}.items():
        (proc / f"{pid}").mkdir(exist_ok=True)
        (proc / f"{pid}/comm").write_text(f"{name}\n")

    def write(pid: int, parent: int, ticks: int) -> None:
        (proc / f"{pid}").mkdir(exist_ok=True)
        text = f"{pid} (a) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1\n"
        (proc / f"{pid}/stat").write_text(text)

    write(40, 7, 500)
    write(41, 40, 300)

    def go_on(_: float) -> None:
        (proc / "stat").write_text("cpu  200 10 110 820 20 1 4 35 90 9\n")
        (proc / "40/stat").unlink()
        (proc / "41/stat").unlink()
        for pid in (40, 41):
            (proc / f"{pid}/comm").unlink()
            (proc / f"{pid}").rmdir()
        write(7, 1, 20 + 500 + 300 + 60)
        write(42, 7, 30)

    monkeypatch.setattr("plimsoll.machine.time.sleep", go_on)
    load = measure_load({20})
    assert load is not None
    assert load.busiest == ("make 30 %", "sed 15 %")


@pytest.mark.parametrize(
    ("run", "others", "share"),
    [(150, 130, 0.15), (100, 90, 0.0), (20, 450, 0.7)],
    ids=["as it was", "ticks", "a process left the run"],
)
def test_others_used_between_nothing_and_all_that_was_used(
    run: int, others: int, share: float
) -> None:
    """Of 200 ticks 40 were idle and 20 stolen. The run had 100, others had 100."""
    before = CpuTimes(total=1000, stolen=10, idle=500, others=100, run=100, server=None, at_s=0)
    after = CpuTimes(total=1200, stolen=30, idle=540, others=others, run=run, server=None, at_s=2)
    seen = shares(before, after)
    assert seen is not None
    assert seen.others == pytest.approx(share)


def test_a_run_whose_processes_are_not_visible_has_no_others(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def go_on(_: float) -> None:
        (proc / "stat").write_text("cpu  200 10 110 820 20 1 4 35 90 9\n")

    monkeypatch.setattr("plimsoll.machine.time.sleep", go_on)
    load = measure_load(())
    assert load is not None
    assert (load.others_percent, load.busiest) == (None, ())


@pytest.mark.usefixtures("proc")
def test_the_parent_of_a_process_is_read_from_its_status() -> None:
    assert [find_parent(31), find_parent(99)] == [30, None]


def test_who_listens_on_a_port_is_found_by_the_sockets_inode(proc: Path) -> None:
    (proc / "net").mkdir()
    (proc / "net/tcp").write_text(
        "  sl  local_address rem_address   st queues when retrnsmt uid timeout inode\n"
        "   0: 0100007F:0CEA 00000000:0000 0A 0:0 00:0 0 0 0 4711 1\n"
        "   1: 0100007F:0CEA 0100007F:A0B1 01 0:0 00:0 0 0 0 4712 1\n"
    )
    for pid, descriptor, inode in ((20, 3, 4711), (30, 5, 4712)):
        (proc / f"{pid}/fd").mkdir()
        (proc / f"{pid}/fd/{descriptor}").symlink_to(f"socket:[{inode}]")
    assert find_listeners(3306) == {20}
    assert find_listeners(3307) == set()


def test_a_process_that_ends_while_listeners_are_looked_for_is_passed_over(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a search ended with "/proc/23661/fd: No such file or directory"."""
    test_who_listens_on_a_port_is_found_by_the_sockets_inode(proc)
    look = Path.iterdir

    def end(folder: Path) -> Iterator[Path]:
        if folder.parts[-2:] == ("30", "fd"):
            raise FileNotFoundError(folder)
        return look(folder)

    monkeypatch.setattr(Path, "iterdir", end)
    assert find_listeners(3306) == {20}


def listening(proc: Path, user: int) -> None:
    """A user listens on port 3306, by a descriptor that is not shown."""
    (proc / "net").mkdir()
    (proc / "net/tcp").write_text(f"head\n 0: 0100007F:0CEA 0:0 0A 0:0 00:0 0 {user} 0 4711 1\n")


@pytest.mark.parametrize(
    ("user", "programs", "found"),
    [
        (os.getuid(), {20: "mariadbd", 30: "bash"}, {20}),
        (os.getuid(), {20: "mariadbd", 30: "mariadbd"}, set()),  # which of them is not known
        (os.getuid(), {30: "postgres", 31: "postgres"}, {30}),  # which has started the other
        (os.getuid(), {20: "docker-proxy"}, set()),
        (os.getuid() + 1, {20: "mariadbd"}, set()),
    ],
)
def test_a_server_of_another_user_is_known_by_its_sockets_user_and_its_program(
    proc: Path, user: int, programs: dict[int, str], found: set[int]
) -> None:
    listening(proc, user)
    for pid, name in programs.items():
        (proc / f"{pid}/comm").write_text(f"{name}\n")
    assert servers(3306, {"postgres", "mariadbd"}) == found
    assert servers(3307, {"mysqld", "mariadbd"}) == set()


@pytest.mark.usefixtures("proc")
@pytest.mark.parametrize(
    ("servers", "ticks"), [({20, 30}, 40 + 30 + 3), ({20, 99}, None), (set(), None)]
)
def test_the_servers_time_is_that_of_its_processes_and_of_those_below_them_or_none(
    servers: set[int], ticks: int | None
) -> None:
    seen = cpu_times({10}, servers=servers)
    assert seen is not None
    assert seen.server == ticks


def test_all_times_come_from_the_reading_that_was_complete(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where processes end all the time, half a second may pass from the first try to the last."""
    read = machine._read_status

    def read_and_go_on(pid: int) -> list[bytes]:
        fields = read(pid)
        if pid == 31 and (proc / "7").exists():
            (proc / "7/stat").unlink()  # it ends, so all are read again
            (proc / "7").rmdir()
            (proc / "stat").write_text("cpu  200 10 50 800 20 1 4 15 90 9\n")
            fake.go(0.5)
        return fields

    fake = FakeTime()
    monkeypatch.setattr(machine, "time", fake)
    monkeypatch.setattr(machine, "_read_status", read_and_go_on)
    seen = cpu_times({10}, servers={30})
    assert seen is not None
    assert (seen.at_s, seen.total) == (100.5, 1100)


def test_a_process_that_ends_while_it_is_read_is_left_out(proc: Path) -> None:
    before = cpu_times(run={10})
    (proc / "20/stat").unlink()
    (proc / "20/stat").symlink_to(proc / "gone")
    after = cpu_times(run={10})
    assert before is not None
    assert after is not None
    assert after.others - before.others == 40


def test_the_time_of_a_process_that_ends_as_all_are_read_is_its_parents(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a server that answers each connection by a process, when its load ends."""
    read = machine._read_status

    def read_and_end(pid: int) -> list[bytes]:
        fields = read(pid)
        if pid == 30 and (proc / "31").exists():
            status = proc / "30/stat"
            status.write_text(status.read_text().replace("27 1 1 1", "27 1 1 4"))
            (proc / "31/stat").unlink()
            (proc / "31").rmdir()
        return fields

    monkeypatch.setattr(machine, "_read_status", read_and_end)
    seen = cpu_times({10}, servers={30})
    assert seen is not None
    assert seen.server == 30 + 3


def test_a_system_without_the_kernels_figures_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_PROC", tmp_path / "none")
    assert cpu_times(run={10}) is None


def test_a_busy_process_of_the_runs_is_no_other_and_a_strangers_is() -> None:
    """As the kernel itself counts them."""
    burn = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as busy:
        assert busy.stdout is not None
        busy.stdout.readline()
        processes = machine._Processes.read()
        known = [processes.below({busy.pid}, strangers) for strangers in ((), {busy.pid})]
        busy.kill()
    assert known[0] - known[1] >= 0.4 * os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (CpuTimes(1000, 15, 800, 50), CpuTimes(1200, 45, 860, 70), CpuShares(0.15, 0.3, 0.1)),
        (CpuTimes(1000, 15, 800, 50), CpuTimes(1200, 15, 800, 44), CpuShares(0.0, 0.0, 0.0)),
        (CpuTimes(1000, 15, 800, 50), CpuTimes(1000, 15, 800, 50), None),
        (
            CpuTimes(1000, 15, 800, 50, server=20),
            CpuTimes(1200, 15, 800, 50, server=170),
            CpuShares(0.0, 0.0, 0.0, server=0.75),
        ),
        (
            CpuTimes(1000, 15, 800, 50, server=20),
            CpuTimes(1200, 15, 800, 50),
            CpuShares(0.0, 0.0, 0.0),
        ),
        (None, CpuTimes(1000, 15, 800, 50), None),
        (CpuTimes(1000, 15, 800, 50), None, None),
    ],
)
def test_shares(
    before: CpuTimes | None, after: CpuTimes | None, expected: CpuShares | None
) -> None:
    assert shares(before, after) == expected


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr(machine, "time", fake)
    return fake


def test_a_clock_that_nobody_set_is_told(clock: FakeTime) -> None:
    require_set_clock()
    clock.calendar_s = 180.0
    with pytest.raises(PlimsollError, match="clock shows 1970-01-01 00:03 UTC: set it first"):
        require_set_clock()


@pytest.mark.parametrize("verb", [["load", "--dsn"], ["find"]])
def test_nothing_is_measured_by_a_clock_that_nobody_set(
    clock: FakeTime, capsys: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    clock.calendar_s = 180.0
    with pytest.raises(SystemExit) as ended:
        main([*verb, "mysql://u@127.0.0.1:1/d", "--workload", "ycsb-c"])
    told = capsys.readouterr().err
    assert ended.value.code == 1
    assert "this machine's clock shows 1970-01-01 00:03 UTC" in told
    assert told.count("\n") == 1


def test_a_clock_that_is_set_back_is_told_with_how_far(clock: FakeTime) -> None:
    watch = ClockWatch()
    clock.go(3600, set_back_s=0.9)  # slowed down, as NTP does it
    assert watch.look() is None
    clock.go(1, set_back_s=3600)
    assert watch.look() == "this machine's clock was set back by 3,600 s"
    clock.go(1)
    assert watch.look() is None


@pytest.mark.parametrize("ahead_s", [0, 3600])
def test_a_clock_that_is_right_or_is_set_ahead_is_no_matter(
    clock: FakeTime, ahead_s: float
) -> None:
    """After a suspension the calendar is ahead of the monotonic clock, which stood still."""
    watch = ClockWatch()
    clock.go(1, set_back_s=-ahead_s)
    assert watch.look() is None


def test_a_process_that_stands_still_between_two_reads_sees_no_clock_set_back(
    clock: FakeTime,
) -> None:
    """On a machine that is too busy it waits for a processor, and read an earlier calendar."""
    watch = ClockWatch()
    clock.go(1)
    clock.stands_still_s = 2.0
    assert watch.look() is None
    clock.go(1, set_back_s=5)
    assert watch.look() == "this machine's clock was set back by 5 s"


def test_who_watches_the_clock_is_told_once(
    clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_CLOCK_LOOK_S", 0.001)
    told: SimpleQueue[str] = SimpleQueue()
    with watch_clock(told.put):
        clock.go(1, set_back_s=90)
        assert told.get() == "this machine's clock was set back by 90 s"
        clock.go(1, set_back_s=90)
    assert told.empty()
