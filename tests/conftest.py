"""The rules for every test: how tests share workers, which tier they are in, what is recorded.

A group is what one worker of pytest-xdist gets as a whole, by default a file. The longest groups
start first, so that no worker is left with one at the end.
"""

import gc
import json
import time
from collections import defaultdict
from collections.abc import Generator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TextIO

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# Without this, pytest does not show the values in assertions outside of the test modules.
pytest.register_assert_rewrite("tests.support", "tests.local.load.stalls")

# No deadlines: a busy machine is no failure, and durations are measured in benchmarks/. `quick` is
# what `make test` runs and `plimsoll` is what `make test-all` runs. Both generate the same examples
# every time, so that a failure is the code's. `--hypothesis-profile explore` looks for new ones.
# How long an example takes to draw is the machine's: a busy one stood still for a minute.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", patient, derandomize=True, max_examples=25)
settings.register_profile("plimsoll", patient, derandomize=True)
settings.register_profile("explore", patient, max_examples=500)
settings.load_profile("plimsoll")

SLOWEST_FILES = 10
OUTCOMES = ("passed", "skipped", "failed")  # of one phase of a test, the worst last

# Files that share a costly fixture: a Cassandra of 1 GiB, a twin (its stand-in for AWS and its
# functions take 1 GiB), a browser, synthesized templates. Every worker that gets one of the files
# starts what they share, and memory is short before processors are.
CASSANDRA = {"cassandra", "test_cassandra", "test_cassandra_server", "test_cassandra_target"}
TOGETHER = (
    "browser", "infrastructure", "local/aws", "local/experiments", "local/service",
    "local/workflow",
)  # fmt: skip
# A second twin: the runs of local/workflow take too long for one worker.
FAULTY = "local/workflow, faults"
FAULTY_FILES = {
    "test_endings", "test_faults", "test_full_target", "test_nursery", "test_void_steps",
}  # fmt: skip
# Files of these folders that start what they need themselves.
APART = {
    "test_busy_machine", "test_canary_verb", "test_console_verb", "test_late_metrics",
    "test_run_verb", "test_ui",
}  # fmt: skip
ALONE = "local"  # the only folder in which `make test` looks for tests that are marked `alone`
# The groups that take longest, the longest first. The others follow in the order of their tiers:
# `local` waits for servers and volumes, while `aws` and `unit` compute.
LONGEST_FIRST = (
    "faults/test_faults.py", "local/service", "local/workflow", FAULTY, "cassandra",
    "local/experiments", "browser", "infrastructure", "local/aws",
)  # fmt: skip
TIERS = ("local", "faults", "browser", "infrastructure", "report", "aws", "unit")


def file_of(nodeid: str) -> PurePosixPath:
    """Return the file of a test, relative to tests/."""
    return _relative(nodeid.partition("::")[0])


@cache
def _relative(file: str) -> PurePosixPath:
    return PurePosixPath(file).relative_to("tests")


def group(nodeid: str) -> str:
    """Name the group of a test: its file, or what the file shares a costly fixture with."""
    return _group_of(file_of(nodeid))


@cache
def _group_of(file: PurePosixPath) -> str:
    if file.parts[0] == "local" and CASSANDRA & {file.stem, file.parent.name}:
        return "cassandra"
    if file.stem in APART:
        return str(file)
    if file.parent.match("local/workflow") and file.stem in FAULTY_FILES:
        return FAULTY
    return next((folder for folder in TOGETHER if file.is_relative_to(folder)), str(file))


class ByGroup(LoadScopeScheduling):  # type: ignore[misc]  # xdist carries no types
    """Gives a worker one whole group at a time."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByGroup | None:
    """Return the scheduler for `--dist loadscope`."""
    return ByGroup(config, log) if config.getvalue("dist") == "loadscope" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--record`, which `make hunt` uses."""
    parser.addoption(
        "--record",
        metavar="FILE",
        type=Path,
        help="append each test's outcome to FILE, and leave out the tests that FILE has already",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the reporter, in the one process that hears of every test."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(config.getoption("record")), "plimsoll-reporter")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the groups, and leave out what `--record` has already.

    Raises:
        UsageError: A test is marked `alone` where `make test` would not find it.
    """
    for item in items:
        file = file_of(item.nodeid)
        if item.get_closest_marker("alone") and not file.is_relative_to(ALONE):
            raise pytest.UsageError(f"{file}: tests marked `alone` belong in tests/{ALONE}/")
    recorded = recorded_tests(config.getoption("record"))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in recorded])
    items[:] = [item for item in items if item.nodeid not in recorded]
    items.sort(key=lambda item: rank(group(item.nodeid)))


def rank(name: str) -> tuple[int, int]:
    """Return the place of a group in the order in which groups start."""
    first = LONGEST_FIRST.index(name) if name in LONGEST_FIRST else len(LONGEST_FIRST)
    tier = "local" if name == "cassandra" else PurePosixPath(name).parts[0]
    return first, TIERS.index(tier) if tier in TIERS else len(TIERS)


def recorded_tests(record: Path | None) -> set[str]:
    """Read the tests whose outcome a record has."""
    if record is None or not record.exists():
        return set()
    return {json.loads(line)["test"] for line in record.read_text().splitlines()}


class Reporter:
    """Adds up the seconds of each file, and writes the record of outcomes."""

    def __init__(self, record: Path | None) -> None:
        self._file_seconds: defaultdict[str, float] = defaultdict(float)
        self._record: TextIO | None = record.open("a") if record else None
        self._worst: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one phase of a test; at its last, write its outcome down."""
        self._file_seconds[str(file_of(report.nodeid))] += report.duration
        worst = self._worst.get(report.nodeid, "passed")
        self._worst[report.nodeid] = max(worst, report.outcome, key=OUTCOMES.index)
        if report.when == "teardown" and self._record:
            outcome = self._worst[report.nodeid]
            line = {"test": report.nodeid, "outcome": outcome, "at": round(time.time(), 1)}
            self._record.write(json.dumps(line) + "\n")
            self._record.flush()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the files that took longest, so that growth is seen."""
        if len(self._file_seconds) > SLOWEST_FILES:
            terminalreporter.section(f"slowest {SLOWEST_FILES} files, s of all their tests")
            longest = sorted(self._file_seconds.items(), key=lambda file: -file[1])
            for file, seconds in longest[:SLOWEST_FILES]:
                terminalreporter.write_line(f"{seconds:7.1f}  tests/{file}")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: what is imported stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
