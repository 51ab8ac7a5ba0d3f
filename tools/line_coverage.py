"""Measures which lines of `plimsoll/` the tests run, in every Python process that they start.

`make coverage` runs a tier's tests (TIER=test) or some files (FILES="tests/unit/x ...") and prints
the files with lines that nothing ran. Programs that start without Python's own modules are left
out (`plimsoll/local/process_guard.py`). Tests that count modules, memory or threads may fail, since
measuring adds some.
"""

import argparse
import os
import shutil
import subprocess
import sys

from tools.suite import FAILED, NO_TESTS, PASSED, ROOT, TIERS, pytest

PACKAGE = ROOT / ".cache/coverage"  # coverage.py, installed apart
STARTS = ROOT / "tools/coverage_start"
DATA = ROOT / ".cache/coverage-data"


def main() -> int:
    """Run the tests and print the report; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.line_coverage")
    parser.add_argument("--tier", choices=tuple(TIERS), default="test")
    parser.add_argument("files", nargs="*", default=["tests"])
    asked = parser.parse_args()
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    path = os.pathsep.join(filter(None, [str(STARTS), str(PACKAGE), os.environ.get("PYTHONPATH")]))
    measured = {**os.environ, "PYTHONPATH": path}
    codes = [
        subprocess.run(pytest(options, asked.files), cwd=ROOT, env=measured, check=False).returncode
        for options in TIERS[asked.tier].values()
    ]
    print_report()
    return PASSED if set(codes) <= {PASSED, NO_TESTS} else FAILED


def print_report() -> None:
    """Add up the data of all processes; print the files with lines that were not run."""
    reading = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    file = f"--data-file={DATA / 'lines'}"  # beside those of the processes, by its name
    for arguments in (
        ["combine", "--quiet", file, str(DATA)],
        ["report", file, "--skip-covered", "--sort=cover", "--precision=1", "--ignore-errors"],
    ):
        command = [sys.executable, "-m", "coverage", *arguments]
        subprocess.run(command, cwd=ROOT, env=reading, check=True)


if __name__ == "__main__":
    sys.exit(main())
