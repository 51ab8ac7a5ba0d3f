"""Published figures that a run may be laid over: `reference/*.csv`.

Lines that begin with `#` say what the figures are (`# title: ...`, `# statistic: mean`) and what is
doubtful about them (`# doubt: ...`). A file of curves has the columns iops, clients,
throughput_ops_per_second, one `<operation>_us` for each operation, knee (yes at the row that was
published as the maximum) and doubt. A file of ratios has of, to, ratio, bound, doubt; its other
columns are axes of an experiment. Names of variants that stand for the same are parted by `|`.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.capacity import Bound
from plimsoll.model.steps import Statistic

_OF_CURVES = {"iops", "clients", "throughput_ops_per_second", "knee", "doubt"}
_OF_RATIOS = {"of", "to", "ratio", "bound", "doubt"}


class PublishedStep(Model):
    """One row of a published curve."""

    clients: int
    throughput_ops_per_second: float
    latency_us: dict[str, float]  # by operation
    knee: bool
    doubt: str


class PublishedCurve(Model):
    """Throughput and latency by clients, of one volume."""

    iops: int
    steps: tuple[PublishedStep, ...]


class PublishedRatio(Model):
    """How many times the throughput of one target another gave."""

    of: tuple[str, ...]  # variants that stand for it
    to: tuple[str, ...]
    where: dict[str, tuple[str, ...]]  # {axis: variants}; an axis without any holds for all
    ratio: float
    bound: Bound
    doubt: str


class Reference(Model):
    """A study's published figures, and what is doubtful about them."""

    title: str
    statistic: Statistic
    doubts: tuple[str, ...]
    curves: tuple[PublishedCurve, ...]
    ratios: tuple[PublishedRatio, ...]


def read_reference(path: Path) -> Reference:
    """Read a file of published figures.

    Raises:
        UsageError: It cannot be read, or is none; names the line and the column.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--with {path}: cannot be read: {error}") from None
    said = [line[1:].partition(":") for line in lines if line.startswith("#")]
    facts = {key.strip(): text.strip() for key, _, text in said}
    numbers = [n for n, line in enumerate(lines, 1) if not line.startswith("#")]
    reader = csv.DictReader(lines[n - 1] for n in numbers)
    columns = set(reader.fieldnames or ())
    if not (columns >= _OF_CURVES or columns >= _OF_RATIOS):
        wanted = " or ".join(", ".join(sorted(names)) for names in (_OF_CURVES, _OF_RATIOS))
        raise UsageError(f"--with {path}: its columns must have {wanted}")
    curves: dict[int, list[PublishedStep]] = {}
    ratios = []
    for row in reader:
        try:
            if columns >= _OF_CURVES:
                curves.setdefault(int(row["iops"]), []).append(_step(row))
            else:
                ratios.append(_ratio(row))
        except (ValueError, TypeError, ValidationError) as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
            raise UsageError(f"--with {path}:{numbers[reader.line_num - 1]}: {why}") from None
    return Reference.model_validate(
        {
            "title": facts.get("title", path.name),
            "statistic": facts.get("statistic", "mean"),
            "doubts": [text.strip() for key, _, text in said if key.strip() == "doubt"],
            "curves": [{"iops": iops, "steps": steps} for iops, steps in curves.items()],
            "ratios": ratios,
        }
    )


def _step(row: Mapping[str, Any]) -> PublishedStep:
    latency = {
        name.removesuffix("_us"): float(value)
        for name, value in row.items()
        if name and name.endswith("_us") and value
    }
    return PublishedStep(
        clients=int(row["clients"]),
        throughput_ops_per_second=float(row["throughput_ops_per_second"]),
        latency_us=latency,
        knee=row["knee"] == "yes",
        doubt=row["doubt"] or "",
    )


def _ratio(row: Mapping[str, Any]) -> PublishedRatio:
    where = {
        axis: tuple(names.split("|"))
        for axis, names in row.items()
        if axis not in _OF_RATIOS and names
    }
    return PublishedRatio(
        of=tuple(row["of"].split("|")),
        to=tuple(row["to"].split("|")),
        where=where,
        ratio=float(row["ratio"]),
        bound=row["bound"],
        doubt=row["doubt"] or "",
    )
