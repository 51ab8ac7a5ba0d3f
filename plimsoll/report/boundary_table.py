"""A search for the boundary in words: measured is plain, predicted is marked. Pure."""

from collections.abc import Iterator

from plimsoll import words
from plimsoll.model.boundary import Boundary, BoundaryCell
from plimsoll.report.report_tables import ReportCell, ReportTable
from plimsoll.report.size_tables import MARKED, PREDICTED

COLUMNS = (
    "", "$/month", "cell", "measured ops/s", "predicted ops/s", "binds first", "error",
    "carries it",
)  # fmt: skip


def boundary_table(found: Boundary) -> ReportTable:
    """One row for each cell, cheapest first; of one that was not measured `predicted` cells."""
    rows = []
    for cell in found.cells:
        kind = "strong" if cell.status == "measured" else "predicted"
        rows.append(tuple(ReportCell(text, kind) for text in _texts(cell)))
    return ReportTable(columns=COLUMNS, rows=tuple(rows))


def _texts(cell: BoundaryCell) -> Iterator[str]:
    yield cell.status
    yield words.NOTHING if cell.usd_per_month is None else f"{cell.usd_per_month:,.2f}"
    yield cell.name
    yield words.bounded(words.rate(cell.measured_ops_per_second), cell.bound)
    held = cell.predicted
    between = f" ({words.rate(held.low)} to {words.rate(held.high)})" if held else ""
    yield f"{PREDICTED}{words.rate(held.ops_per_second)}{between}" if held else words.NOTHING
    yield held.binds if held else words.NOTHING
    yield words.NOTHING if cell.error is None else f"{cell.error:+.0%}"
    yield _carries(cell)


def _carries(cell: BoundaryCell) -> str:
    if cell.why is not None:
        return cell.why
    mark = "" if cell.status == "measured" else PREDICTED
    if cell.carries is None:
        return "perhaps" if cell.predicted else words.NOTHING
    return f"{mark}{'yes' if cell.carries else 'no'}"


def boundary_lines(found: Boundary) -> Iterator[str]:
    """Say what was asked, by whose prices, and what predictions take for granted."""
    limits = ", ".join(f"{name} {words.latency(us)}" for name, us in found.limits_us.items())
    yield (
        f"Asked: {words.throughput(found.want_ops_per_second)} within"
        f" {words.statistic(found.statistic)} {limits}; a load line of"
        f" {words.rate(found.required_ops_per_second)} leaves {words.percent(found.headroom)}; list"
        f" prices of {found.region}, 730 hours a month. {MARKED}"
    )
    yield from found.assumptions
