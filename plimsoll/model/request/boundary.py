"""The search of a matrix for its cheapest cell that carries a load, and what it came to.

docs/experiments.md. A figure is either measured or predicted, and no field holds both.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound
from plimsoll.model.judging.steps import Statistic

# Changes of a request as an experiment writes them: fields laid over fields. Pure.


Patch = dict[str, Any]


def laid(base: Any, patch: Any) -> Any:
    """Lay a patch over a value: mappings field by field, anything else whole."""
    if not (isinstance(base, Mapping) and isinstance(patch, Mapping)):
        return patch
    return {**base, **{key: laid(base.get(key), value) for key, value in patch.items()}}


def leaves(patch: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Name the fields that a patch sets."""
    if not isinstance(patch, Mapping) or not patch:
        return [path] if path else []
    return [leaf for key, value in patch.items() for leaf in leaves(value, (*path, str(key)))]


# fields of a request along which `plimsoll.sizing` predicts
PREDICTED = frozenset(
    {
        *(("target", "volume", name) for name in ("type", "size_gib", "iops", "throughput_mib_s")),
        ("target", "instance_class"),
        ("target", "instance_type"),  # of Cassandra
        ("target", "storage"),  # of Aurora
        ("target", "parameters", "innodb_buffer_pool_size"),
    }
)


class Want(Model):
    """The load that is to be carried."""

    ops_per_second: Annotated[float, Field(gt=0)] = Field(
        description="The load, in operations per second."
    )
    headroom: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.3, description="The share of the load line that stays free."
    )
    limits_us: dict[str, Annotated[float, Field(gt=0)]] | None = Field(
        None,
        description="The most that each operation may take, in microseconds, by its name, of"
        " `request.limits.statistic`; null: `request.limits.limits_us`.",
    )

    @property
    def required(self) -> float:
        """The load line that is needed, in operations per second."""
        return self.ops_per_second / (1 - self.headroom)


def require_predicted(request: Patch, axes: Mapping[str, Mapping[str, Patch]]) -> None:
    """Refuse a target, and axes, of which nothing is predicted.

    Args:
        request: What all cells share.
        axes: What differs.

    Raises:
        UsageError: There is one; names its field.
    """
    target = request.get("target")
    if isinstance(target, Mapping) and target.get("kind") == "endpoint":
        problem = "has a volume and a class that are not known: search: boundary predicts none"
        raise UsageError(Complaint(("request", "target", "kind"), problem, "endpoint"))
    for axis, variants in axes.items():
        for name, patch in variants.items():
            for field in leaves(patch):
                if field not in PREDICTED:
                    problem = "nothing is predicted along it, as search: boundary needs"
                    allowed = tuple(sorted(".".join(one) for one in PREDICTED))
                    path = ("axes", axis, name, *field)
                    raise UsageError(Complaint(path, problem, allowed=allowed))


class Forecast(Model):
    """What a cell was held to sustain, from the runs before its own. Never a measurement."""

    ops_per_second: float  # on the safe side of what is likeliest
    low: float  # the ends of its interval
    high: float
    binds: str  # the resource that sets it


CellState = Literal[
    "measured",  # its run has a figure
    "no answer",  # its run has none
    "predicted",  # it was not run
    "left out",  # neither
]


class BoundaryCell(Model):
    """What is known of a cell."""

    name: str
    usd_per_month: float | None  # list prices; None: one is missing
    status: CellState
    carries: bool | None  # None: not known, or within the interval of what is predicted
    measured_ops_per_second: float | None
    bound: Bound | None  # of that figure
    predicted: Forecast | None  # of a cell that was run: before it was
    error: float | None  # predicted over measured, less 1; None where either is no figure
    why: str | None = None  # its run does not say whether it carries the load; None: it does


BoundaryOutcome = Literal["decided", "none carries it", "not decided"]


class Boundary(Model):
    """Which cell is the cheapest that carries a load, and how that is known."""

    want_ops_per_second: float
    headroom: float
    required_ops_per_second: float  # the load line that leaves the headroom
    statistic: Statistic
    limits_us: dict[str, float]
    region: str  # whose list prices
    outcome: BoundaryOutcome
    cell: str | None  # the cheapest that was measured to carry it
    runs: int  # that were begun
    sentence: str
    stopped: str  # why no further cell was measured
    cells: tuple[BoundaryCell, ...]  # cheapest first
    assumptions: tuple[str, ...]  # of the predictions
