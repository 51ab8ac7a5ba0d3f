"""`make test`, `make test-all` and `make hunt`: which tests each runs, what is recorded, and where
a hunt goes on.

Each test has a project of its own, with this one's conftest and a test of each kind.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.conftest import LONGEST_FIRST, group, rank
from tools import suite
from tools.suite import FAILED, NO_TESTS, PASSED, SECOND_OPINION, TIERS, TOGETHER, Times

ROOT = Path(__file__).parents[3]
KINDS = """
import pytest

def test_plain(): pass

@pytest.mark.alone
def test_alone(): pass

@pytest.mark.whole
def test_whole(): pass

@pytest.mark.alone
@pytest.mark.whole
def test_alone_and_whole(): pass
"""
OUTCOMES = """
import pytest

@pytest.fixture
def breaks_before():
    raise ValueError

@pytest.fixture
def breaks_after():
    yield
    raise ValueError

def test_passes(): pass
def test_fails(): assert 0
def test_is_skipped(): pytest.skip()
def test_breaks_before(breaks_before): pass
def test_breaks_after(breaks_after): pass
"""
# the middle one ends pytest at its first run, as a machine that is switched off does
CUT_OFF = """
import os
from pathlib import Path

def test_before(): pass

def test_middle():
    seen = Path("seen")
    if not seen.exists():
        seen.touch()
        os._exit(9)

def test_after(): assert 0
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without tests, which is under version control, and in which the suite runs."""
    (tmp_path / "tests/local").mkdir(parents=True)
    shutil.copy(ROOT / "tests/conftest.py", tmp_path / "tests")
    markers = "alone: no other test beside it\n  whole: only in test-all"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nmarkers =\n  {markers}\n")
    (tmp_path / ".gitignore").write_text(".cache\n__pycache__\nseen\n")
    for arguments in (
        ("init", "--quiet"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "a"),
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    # only the plugins that the conftest needs: the others take a second to load
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin,_hypothesis_pytestplugin")
    monkeypatch.setattr(suite, "ROOT", tmp_path)
    monkeypatch.setattr(suite, "RECORDS", tmp_path / ".cache/hunt")
    one_process = {
        tier: {part: without_workers(options) for part, options in parts.items()}
        for tier, parts in TIERS.items()
    }
    monkeypatch.setattr(suite, "TIERS", one_process)
    return tmp_path


def without_workers(options: Sequence[str]) -> tuple[str, ...]:
    return tuple(options[len(TOGETHER) :] if options[: len(TOGETHER)] == TOGETHER else options)


def write_tests(project: Path, text: str, file: str = "tests/local/test_it.py") -> None:
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    (project / file).write_text(text)


def run_pytest(project: Path, options: Sequence[str]) -> tuple[int, str]:
    """Run pytest as the suite does; return its exit code and what it printed."""
    done = subprocess.run(
        suite.pytest(options, ["tests"]), cwd=project, check=False, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def read_record(record: Path) -> dict[str, str]:
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert len({line["test"] for line in lines}) == len(lines)
    return {line["test"].partition("::")[2]: line["outcome"] for line in lines}


@pytest.mark.parametrize(
    ("tier", "part", "selected"),
    [
        ("test", "together", {"test_plain"}),
        ("test", "alone", {"test_alone"}),
        ("test-all", "together", {"test_plain", "test_whole"}),
        ("test-all", "alone", {"test_alone", "test_alone_and_whole"}),
    ],
)
def test_what_each_part_of_a_tier_runs(
    project: Path, tier: str, part: str, selected: set[str]
) -> None:
    write_tests(project, KINDS)
    write_tests(project, "def test_of_others(): assert 0", f"{SECOND_OPINION}/test_other.py")
    record = project / "record.jsonl"
    code, printed = run_pytest(project, (*suite.TIERS[tier][part], "--record", str(record)))
    assert code == PASSED, printed
    assert read_record(record) == dict.fromkeys(selected, "passed")


def test_together_means_groups_on_several_workers() -> None:
    for parts in TIERS.values():
        assert parts["together"][: len(TOGETHER)] == TOGETHER
        assert "-n" not in parts["alone"]


def test_programs_of_others_run_only_where_they_are_named() -> None:
    ignored = f"--ignore={SECOND_OPINION}"
    assert ignored in suite.pytest((), ["tests"])
    assert ignored not in suite.pytest((), [SECOND_OPINION])


@pytest.mark.parametrize(
    ("test", "of_group"),
    [
        ("tests/unit/test_words.py::test_a", "unit/test_words.py"),
        ("tests/local/service/test_verbs.py::test_a[b::c]", "local/service"),
        ("tests/browser/test_report.py::test_a", "browser"),
        ("tests/local/workflow/test_run_verb.py::test_a", "local/workflow/test_run_verb.py"),
        ("tests/local/databases/cassandra/test_grants.py::test_a", "cassandra"),
        ("tests/local/load/test_cassandra.py::test_a", "cassandra"),
        ("tests/infrastructure/test_cassandra_target.py::test_a", "infrastructure"),
    ],
)
def test_a_group_is_a_file_or_all_that_share_what_is_costly(test: str, of_group: str) -> None:
    assert group(test) == of_group


def test_the_longest_groups_start_first_and_those_that_compute_last() -> None:
    names = ["unit/test_a.py", "aws/test_a.py", "local/load/test_a.py", *reversed(LONGEST_FIRST)]
    assert sorted(names, key=rank) == [
        *LONGEST_FIRST, "local/load/test_a.py", "aws/test_a.py", "unit/test_a.py",
    ]  # fmt: skip


def test_a_worker_that_is_killed_ends_the_run_with_its_test_named(project: Path) -> None:
    write_tests(project, CUT_OFF, "tests/unit/test_dies.py")
    code, printed = run_pytest(project, TOGETHER)
    assert code == FAILED, printed
    assert "crashed while running 'tests/unit/test_dies.py::test_middle'" in printed
    assert "1 failed, 1 passed" in printed  # with a worker in its place, the third fails too


def test_a_test_marked_alone_is_refused_where_no_part_would_run_it(project: Path) -> None:
    write_tests(project, KINDS, "tests/unit/test_it.py")
    code, printed = run_pytest(project, suite.TIERS["test"]["together"])
    assert code not in (PASSED, FAILED, NO_TESTS)
    assert "unit/test_it.py: tests marked `alone` belong in tests/local/" in printed


def test_what_is_recorded_is_a_tests_worst_outcome(project: Path) -> None:
    write_tests(project, OUTCOMES)
    record = project / "record.jsonl"
    code, printed = run_pytest(project, ("--record", str(record)))
    assert code == FAILED, printed
    assert read_record(record) == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_is_skipped": "skipped",
        "test_breaks_before": "failed",
        "test_breaks_after": "failed",
    }
    code, printed = run_pytest(project, ("--record", str(record)))  # all of them are recorded
    assert code == NO_TESTS, printed
    write_tests(project, f"{OUTCOMES}\ndef test_new(): pass\n")
    code, printed = run_pytest(project, ("--record", str(record)))
    assert code == PASSED, printed
    assert read_record(record)["test_new"] == "passed"


def test_a_hunt_that_was_cut_off_goes_on_from_its_record(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_tests(project, CUT_OFF)
    with pytest.raises(SystemExit, match="hunt: pytest ended with exit code 9"):
        suite.hunt("test", 2, [])
    (records,) = suite.RECORDS.iterdir()
    assert read_record(records / "1-together.jsonl") == {"test_before": "passed"}
    capfd.readouterr()

    assert suite.hunt("test", 2, []) == FAILED
    assert list(suite.RECORDS.iterdir()) == [records]
    told = capfd.readouterr().out
    outcomes = {"test_before": "passed", "test_middle": "passed", "test_after": "failed"}
    assert [read_record(records / f"{run}-together.jsonl") for run in (1, 2)] == [outcomes] * 2
    assert "failed in 2 of 2 runs: tests/local/test_it.py::test_after" in told
    assert "hunt: 6 tests in 2 runs, 2 failures" in told

    assert suite.hunt("test", 2, []) == FAILED  # nothing is left to run
    assert re.findall(r"^run .*", capfd.readouterr().out, re.MULTILINE) == []


def test_a_hunt_belongs_to_one_state_of_the_sources(project: Path) -> None:
    (project / "link").symlink_to(project / "tests")  # no file: it has no text
    states = [suite.fingerprint("test", [])]
    states.append(suite.fingerprint("test-all", []))
    states.append(suite.fingerprint("test", ["tests/local"]))
    write_tests(project, KINDS)
    states.append(suite.fingerprint("test", []))
    write_tests(project, OUTCOMES)
    states.append(suite.fingerprint("test", []))
    with (project / "tests/conftest.py").open("a") as conftest:
        conftest.write("# changed\n")
    states.append(suite.fingerprint("test", []))
    assert len(set(states)) == len(states)
    assert suite.fingerprint("test", []) == states[-1]


@pytest.mark.usefixtures("project")
def test_every_other_run_of_a_hunt_is_beside_a_busy_core(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = False
    ran: list[tuple[bool, str, list[str]]] = []

    @contextmanager
    def busy_core() -> Iterator[None]:
        nonlocal busy
        busy = True
        yield
        busy = False

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        record = Path(command[command.index("--record") + 1])
        record.touch()
        ran.append((busy, record.name, [part for part in command if part.startswith("tests")]))
        return subprocess.CompletedProcess(command, NO_TESTS)

    monkeypatch.setattr(suite, "busy_core", busy_core)
    monkeypatch.setattr(suite, "fingerprint", lambda *_: "state")
    monkeypatch.setattr(subprocess, "run", run)
    assert suite.hunt("test-all", 3, ["tests/local/load"]) == PASSED
    assert ran == [
        (number == 2, f"{number}-{part}.jsonl", ["tests/local/load"])
        for number in (1, 2, 3)
        for part in TIERS["test-all"]
    ]
    assert "run 2-alone, beside a busy core" in capsys.readouterr().out


def test_a_busy_core_is_one_process_on_one_core_that_ends() -> None:
    own = psutil.Process()
    before = set(own.children())
    with suite.busy_core():
        (hog,) = set(own.children()) - before
        assert len(hog.cpu_affinity()) == 1
    assert not hog.is_running()


def test_the_hog_ends_with_whoever_started_it() -> None:
    no_parent = str(os.getpid() + 1)
    done = subprocess.run([sys.executable, "-c", suite.HOG, no_parent], check=False)
    assert done.returncode == 0


def test_a_part_that_fails_is_named_and_fails_the_tier(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run_checks(times: Times) -> None:
        times.run("types", [sys.executable, "-c", "print('no type'); exit(2)"], shown=False)
        times.run("lint-rust", [sys.executable, "-c", "print('fine')"], shown=False)

    write_tests(project, KINDS)
    monkeypatch.setattr(suite, "run_checks", run_checks)
    assert suite.run_tier("test") == FAILED
    told = capfd.readouterr().out
    assert "types failed\nno type" in told
    assert "fine" not in told  # what passes is not shown
    timed = {line.split()[1] for line in re.findall(r"^ +\d+  .*", told, re.MULTILINE)}
    assert timed == {"types", "lint-rust", "together", "alone", "test"}
    assert told.endswith("failed: types\n")


def test_tests_that_are_alone_have_no_checks_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def run(_: Times, name: str, command: Sequence[str | Path], *, shown: bool = True) -> None:
        del command, shown
        done.append(name)

    monkeypatch.setattr(suite, "run_checks", lambda _: done.append("checks"))
    monkeypatch.setattr(Times, "run", run)
    assert suite.run_tier("test-all") == PASSED
    assert sorted(done[:2]) == ["checks", "together"]
    assert done[2:] == ["alone", "second opinion"]


def test_each_check_is_a_target_of_the_makefile() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(suite.CHECKS) <= set(targets)
