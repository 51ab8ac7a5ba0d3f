"""Runs the tests: `make test`, `make test-all` and `make hunt`.

`make test` has at least one test of each kind of proof; `make test-all` has all of them
(CONTRIBUTING.md has the table). Lint, types and Rust's tests run beside pytest, which has more
workers than cores, since most tests of databases wait. Tests marked `alone` follow one by one.

`make hunt` looks for tests that fail by chance: it runs a tier RUNS times (3 by default), every
other time beside a busy core, and lists what failed. FILES="tests/local/load ..." limits it,
TIER=test-all widens it. A hunt that was cut off goes on from its record in .cache/hunt/, which
belongs to one state of the sources.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / ".cache" / "hunt"
WORKERS = max(4, 5 * len(os.sched_getaffinity(0)) // 2)  # each may need 2 GiB of memory
TOGETHER = (
    "-n", str(WORKERS), "--dist", "loadscope", "--no-loadscope-reorder",
    # xdist waits for ever for the rest of the group of a worker that was killed
    "--max-worker-restart", "0",
)  # fmt: skip
QUICK = ("--hypothesis-profile", "quick")
SECOND_OPINION = "tests/second_opinion"
CHECKS = ("types", "rust-tests", "lint-rust", "lint-python")  # targets of the Makefile
PASSED, FAILED, NO_TESTS = 0, 1, 5  # exit codes of pytest
# keeps a core busy, and ends with its parent
HOG = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    for _ in range(10**5): pass"

# The parts of each tier, one after the other, with the options of pytest.
TIERS = {
    "test": {
        "together": (*TOGETHER, *QUICK, "-m", "not alone and not whole"),
        "alone": (*QUICK, "-m", "alone and not whole"),
    },
    "test-all": {
        "together": (*TOGETHER, "-m", "not alone"),
        "alone": ("-m", "alone"),
    },
}


@dataclass
class Times:
    """The wall time of each part, in seconds, and which parts failed."""

    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def run(self, name: str, command: Sequence[str | Path], *, shown: bool = True) -> None:
        """Run a part of the suite; show its output at once, or at its end if it failed."""
        began = time.monotonic()
        done = subprocess.run(
            command,
            cwd=ROOT,
            check=False,
            text=True,
            stdout=None if shown else subprocess.PIPE,
            stderr=None if shown else subprocess.STDOUT,
        )
        self.seconds[name] = time.monotonic() - began
        if done.returncode not in (PASSED, NO_TESTS):
            self.failed.append(name)
            print(f"\n{name} failed\n{done.stdout or ''}", flush=True)


def run_tier(tier: str) -> int:
    """Run a tier with its checks; return the exit code."""
    times = Times()
    began = time.monotonic()
    beside = threading.Thread(target=run_checks, args=(times,))
    beside.start()
    for part, options in TIERS[tier].items():
        times.run(part, pytest(options, ["tests"]))
        beside.join()  # tests that are alone have no checks beside them
    if tier == "test-all":
        times.run("second opinion", pytest((), [SECOND_OPINION]))
    print("\nwall time of each part, s (the checks run beside `together`)")
    for part, seconds in (*times.seconds.items(), (tier, time.monotonic() - began)):
        print(f"{seconds:7.0f}  {part}")
    if times.failed:
        print(f"failed: {', '.join(times.failed)}")
    return FAILED if times.failed else PASSED


def run_checks(times: Times) -> None:
    """Run lint, types and Rust's tests, one after the other."""
    for target in CHECKS:
        times.run(target, ["make", "--no-print-directory", "--silent", target], shown=False)


def pytest(options: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return a command that runs pytest on some files."""
    command = [sys.executable, "-m", "pytest", "-q", *options, *files]
    return command if SECOND_OPINION in files else [*command, f"--ignore={SECOND_OPINION}"]


def hunt(tier: str, runs: int, files: list[str]) -> int:
    """Run a tier several times; return the exit code."""
    folder = RECORDS / fingerprint(tier, files)
    folder.mkdir(parents=True, exist_ok=True)
    for run in range(1, runs + 1):
        for part, options in TIERS[tier].items():
            hunt_once(folder / f"{run}-{part}.jsonl", options, files, busy=run % 2 == 0)
    return tell_failures(folder, runs)


def fingerprint(tier: str, files: list[str]) -> str:
    """Name the state of the sources together with what is hunted in it."""
    state = [git("rev-parse", "HEAD"), git("diff", "HEAD"), tier, *files]
    untracked = git("ls-files", "--others", "--exclude-standard").splitlines()
    files_beside = [ROOT / name for name in sorted(untracked) if (ROOT / name).is_file()]
    state += [file.read_text(errors="replace") for file in files_beside]
    return hashlib.sha256("\0".join(state).encode()).hexdigest()[:16]


def git(*arguments: str) -> str:
    """Return what git prints."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def hunt_once(record: Path, options: Sequence[str], files: list[str], *, busy: bool) -> None:
    """Run one part, except for the tests that the record has; do nothing if it is complete."""
    complete = record.with_suffix(".complete")
    if complete.exists():
        return
    print(f"run {record.stem}{', beside a busy core' if busy else ''}", flush=True)
    with busy_core() if busy else nullcontext():
        command = pytest((*options, "--record", str(record)), files or ["tests"])
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code not in (PASSED, FAILED, NO_TESTS):
        sys.exit(f"hunt: pytest ended with exit code {code}")
    complete.touch()


@contextmanager
def busy_core() -> Iterator[None]:
    """Keep one core busy meanwhile."""
    with subprocess.Popen([sys.executable, "-c", HOG, str(os.getpid())]) as hog:
        os.sched_setaffinity(hog.pid, {min(os.sched_getaffinity(0))})
        try:
            yield
        finally:
            hog.kill()


def tell_failures(folder: Path, runs: int) -> int:
    """Print which tests failed and how often; return the exit code."""
    records = [file for file in folder.glob("*.jsonl") if int(file.stem.split("-")[0]) <= runs]
    told = [json.loads(line) for file in records for line in file.read_text().splitlines()]
    failed = Counter(test["test"] for test in told if test["outcome"] == "failed")
    for test, times in failed.most_common():
        print(f"failed in {times} of {runs} runs: {test}")
    print(f"hunt: {len(told):,} tests in {runs} runs, {failed.total()} failures")
    return FAILED if failed else PASSED


def main() -> int:
    """Do what the arguments say; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.suite")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for tier in TIERS:
        verbs.add_parser(tier)
    hunting = verbs.add_parser("hunt")
    hunting.add_argument("--tier", choices=tuple(TIERS), default="test")
    hunting.add_argument("--runs", type=int, default=3)
    hunting.add_argument("files", nargs="*")
    asked = parser.parse_args()
    if asked.verb == "hunt":
        return hunt(asked.tier, asked.runs, asked.files)
    return run_tier(asked.verb)


if __name__ == "__main__":
    sys.exit(main())
