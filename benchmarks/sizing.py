"""How well `plimsoll size` predicts: from one run at one setting, other volumes and other memory.

    python -m benchmarks.sizing OUT            # 21 runs on this machine, about 45 minutes
    python -m benchmarks.sizing OUT --quick    # 12 of them, with shorter windows: under 25 minutes
    python -m benchmarks.sizing OUT --table    # the table again, from what is in OUT

Each run's folder is kept in OUT/WORKLOAD/CELL; what is there already is not run again, so that an
interrupted benchmark goes on where it was. The table of docs/evidence/sizing.md is written between
its marks. A quick one belongs into a folder of its own: it has other windows.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll import words
from plimsoll.cli.run import run_here
from plimsoll.model.request.boundary import apply_patch
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.model.run.results import RunResult
from plimsoll.model.validation import validate
from plimsoll.report.folder import RESULT, read_model
from plimsoll.requests.checked_request import check_request
from plimsoll.sizing.caps import find_caps, replace_processors
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.predict import Prediction, predict
from plimsoll.sizing.rank import describe_bound
from plimsoll.workflow.past import extract_measured

PAGE = Path(__file__).parents[1] / "docs/evidence/sizing.md"
BEGIN, END = "<!-- benchmarks/sizing.py writes this table -->", "<!-- end of the table -->"
NEAR = 0.20  # of what was measured
BASE = "io1-2000"
POOL = "innodb_buffer_pool_size"
MIB = 2**20


@dataclass(frozen=True)
class Load:
    """A workload with the limit of its latencies and the buffer pool that makes it read."""

    name: str
    workload: Mapping[str, Any]
    limit_us: float
    pool_mib: int


LOADS = (
    Load("reads", {"name": "ycsb-c", "records": 40_000}, 20_000, 16),
    Load("ycsb-a", {"name": "ycsb-a", "records": 40_000}, 20_000, 16),
    Load("oltp-read-write", {"name": "sysbench-oltp-read-write", "records": 100_000}, 300_000, 16),
)


def volume(kind: str, size_gib: int, **more: Any) -> dict[str, Any]:
    """Write the volume of a cell."""
    return {"target": {"volume": {"type": kind, "size_gib": size_gib, **more}}}


def cells(load: Load) -> dict[str, dict[str, Any]]:
    """Name what differs from the base: four volumes from 0.5 to 4 times its IOPS, two pools."""
    none: dict[str, Any] = {"iops": None}
    return {
        BASE: {},
        "io1-1000": volume("io1", 100, iops=1000),
        "gp3-3000": volume("gp3", 100, **none),
        "gp2-4002": volume("gp2", 1334, credits_start="empty", **none),
        "io2-8000": volume("io2", 100, iops=8000),
        "pool-x2": {"target": {"parameters": {POOL: 2 * load.pool_mib * MIB}}},
        "pool-x4": {"target": {"parameters": {POOL: 4 * load.pool_mib * MIB}}},
    }


QUICK = (BASE, "gp3-3000", "io2-8000", "pool-x2")


def request(load: Load, cell: str, change: Mapping[str, Any], *, quick: bool) -> Request:
    """Write a cell's request."""
    operations = {"reads": ["read"], "ycsb-a": ["read", "update"]}.get(load.name, ["transaction"])
    base = {
        "name": f"{load.name}-{cell}",
        "target": {
            "kind": "rds",
            "engine": "mariadb",
            "engine_version": "11.4",
            "instance_class": "db.m5.4xlarge",
            "volume": {"type": "io1", "size_gib": 160, "iops": 2000},
            "parameters": {POOL: load.pool_mib * MIB},
        },
        "workload": dict(load.workload),
        "search": {
            "strategy": "ramp",
            "connections_max": 256,
            "factor": 2,
            "resolution": 0.2,
            "open_loop_probe": False,
        },
        "load": {"warmup_s": 1, "duration_s": 3 if quick else 6, "recovery_max_s": 3},
        "prepare": {"clients": 1, "warm_s": 6 if quick else 12},
        "limits": {
            "statistic": "p99",
            "limits_us": dict.fromkeys(operations, load.limit_us),
            "confirmation": {"least": 3, "most": 3 if quick else 5, "precision": 0.1},
            "audits_off": ["drift"],
        },
        "time_limit_s": 900,
    }
    return validate(Request, apply_patch(base, change))


def run_missing(folder: Path, *, quick: bool) -> None:
    """Run every cell that is not there yet."""
    missing = [
        (check_request(request(load, cell, change, quick=quick)), folder / load.name / cell)
        for load in LOADS
        for cell, change in cells(load).items()
        if (not quick or cell in QUICK) and not (folder / load.name / cell / RESULT).is_file()
    ]
    if missing and run_here(missing, None):
        sys.exit(130)


def read(folder: Path) -> Measured:
    """Read a run with its own limits."""
    result = read_model(folder / RESULT, RunResult)
    limits = result.request.limits
    return extract_measured(result, limits.statistic, limits.limits_us)


@dataclass(frozen=True)
class Row:
    """A cell: what was predicted from the base, and what was measured."""

    load: str
    cell: str
    found: Prediction
    figure: float | None
    median: float | None
    bound: str | None
    limited: str

    @property
    def error(self) -> float | None:
        """Predicted over measured, less 1; None where no line was measured."""
        exact = self.figure if self.bound == "=" else None
        return self.found.ops_per_second / exact - 1 if exact else None

    @property
    def near(self) -> bool:
        """Within 20 %."""
        return self.error is not None and abs(self.error) <= NEAR

    @property
    def safe(self) -> bool:
        """Not above the median of what was measured."""
        return self.median is not None and self.found.ops_per_second <= self.median

    @property
    def covered(self) -> bool:
        """Whether the interval holds what was measured."""
        return self.figure is not None and self.found.low <= self.figure <= self.found.high


def rows(folder: Path, *, every_base: bool = False) -> Iterator[Row]:
    """Predict each cell that was measured from its workload's base alone, or from each other."""
    for load in LOADS:
        place = folder / load.name
        runs = {
            cell: read(place / cell) for cell in cells(load) if (place / cell / RESULT).is_file()
        }
        for name, base in runs.items():
            if name == BASE or every_base:
                yield from (
                    predicted_row(load, base, cell, run)
                    for cell, run in runs.items()
                    if cell != name and _is_predicted(base, run)
                )


def _is_predicted(base: Measured, run: Measured) -> bool:
    """Whether `plimsoll size` says anything of a run's memory from a base."""
    own, other = (find_caps(one.target).pool_bytes or 0 for one in (base, run))
    return base.known.profile.pool is not None or other >= own


def predicted_row(load: Load, base: Measured, cell: str, run: Measured) -> Row:
    """Predict a cell from another one, and hold it against what was measured there."""
    assert isinstance(run.target, RdsTarget)
    processors = round(base.known.profile.own.processors or 0)
    caps = replace_processors(find_caps(run.target, lasting=False), processors)
    limiting = run.result.limiting
    return Row(
        load=load.name,
        cell=cell,
        found=predict(base.known, caps, base.result.request.limits.limits_us),
        figure=run.capacity.max_sustainable_throughput_ops_per_second,
        median=run.capacity.median_ops_per_second,
        bound=run.capacity.bound,
        limited=words.RESOURCES[limiting.resource] if limiting else words.NOTHING,
    )


def table(folder: Path) -> str:
    """Write the table, its misses among it, and what came of the bars."""
    found = list(rows(folder))
    titles = (
        "workload | cell | predicted ops/s | interval | measured | error | safe | covered"
        " | binds: predicted | measured"
    )
    lines = [f"| {titles} |", f"|{'---|' * len(titles.split(' | '))}"]
    for row in found:
        between = f"{words.format_rate(row.found.low)} to {words.format_rate(row.found.high)}"
        figure = words.prepend_bound(words.format_rate(row.figure), row.bound)
        error = words.NOTHING if row.error is None else f"{row.error:+.0%}"
        marks = ["yes" if mark else "**no**" for mark in (row.safe, row.covered)]
        lines.append(
            f"| {row.load} | {row.cell} | {words.format_rate(row.found.ops_per_second)} | {between}"
            f" | {figure} | {error} | {' | '.join(marks)} | {describe_bound(row.found.binds)}"
            f" | {row.limited} |"
        )
    each = "from each of the seven cells to each other"
    return "\n".join(
        [
            *lines,
            "",
            sums(f"From {BASE}", found),
            "",
            sums(f"As a further trial, {each}", list(rows(folder, every_base=True))),
        ]
    )


def sums(from_which: str, found: Sequence[Row]) -> str:
    """Say in a sentence how many predictions were as they should be."""
    exact = [row for row in found if row.error is not None]
    both = sum(row.near and row.safe for row in exact)
    return (
        f"{from_which}: of {len(exact)} predictions of a measured line,"
        f" {sum(row.near for row in exact)} are within 20 %, {sum(row.safe for row in exact)} on"
        f" the safe side, {both} both; the interval covers {sum(row.covered for row in exact)}."
        f" Another {len(found) - len(exact)} are of a cell with a bound or no figure."
    )


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--table", action="store_true", help="run nothing")
    asked = parser.parse_args()
    if not asked.table:
        run_missing(asked.out, quick=asked.quick)
    written = table(asked.out)
    print(written)
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{written}\n{END}{after}")


if __name__ == "__main__":
    main()
