"""Which faults are tried, and what came of them, as a table."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pages import publish

PAGE = Path(__file__).parents[2] / "docs/security.md"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--write-faults`, which `make faults` uses."""
    parser.addoption("--write-faults", action="store_true", help="write the table to the docs")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the table of faults; write it down where all of them were tried."""
    told: dict[str, list[tuple[bool, dict[str, Any]]]] = defaultdict(list)
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            of_it = dict(report.user_properties)
            if "fault" in of_it:
                told[of_it["fault"]].append((report.passed, of_it))
    if not told:
        return
    rows = ["| fault | phases | as expected | leaks | hangs | stack traces |", "|" + "---|" * 6]
    for fault, cases in told.items():
        counts = [sum(case[what] for _, case in cases) for what in ("leaked", "hung", "traced")]
        passed = sum(passed for passed, _ in cases)
        rows.append(f"| {fault} | {len(cases)} | {passed} | " + " | ".join(map(str, counts)) + " |")
    table = "\n".join(rows)
    terminalreporter.write_line(table)
    if config.getoption("write_faults", default=False):
        publish({"faults": table}, PAGE, only_print=False)
