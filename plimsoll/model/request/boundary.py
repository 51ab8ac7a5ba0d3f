"""The search of an experiment for the cheapest cell that carries a load, and its result.

See docs/experiments.md. A figure is either measured or predicted; no field holds both kinds.
"""

from collections.abc import Container, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound
from plimsoll.model.judging.steps import Statistic

# --- patches: changes of a request, as an experiment writes them ---


Patch = dict[str, Any]


def apply_patch(base: Any, patch: Any) -> Any:
    """Return a value with a patch applied: mappings field by field, all else replaced.

    A whole workload, as a file has it, replaces the one before.
    """
    if not (isinstance(base, Mapping) and isinstance(patch, Mapping)) or is_whole_workload(patch):
        return patch
    return {**base, **{key: apply_patch(base.get(key), value) for key, value in patch.items()}}


def is_whole_workload(fields: Container[str]) -> bool:
    """Whether these are fields of a whole workload, not of a change to one."""
    return ("about" in fields and "operations" in fields) or "scripts" in fields


def list_patched_paths(patch: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """List the paths of the fields that a patch sets."""
    if not isinstance(patch, Mapping) or not patch:
        return [path] if path else []
    return [
        leaf
        for key, value in patch.items()
        for leaf in list_patched_paths(value, (*path, str(key)))
    ]


# Fields of a request whose effect `plimsoll.sizing` predicts
PREDICTED = frozenset(
    {
        *(("target", "volume", name) for name in ("type", "size_gib", "iops", "throughput_mib_s")),
        ("target", "instance_class"),
        ("target", "instance_type"),  # Cassandra
        ("target", "storage"),  # Aurora
        ("target", "parameters", "innodb_buffer_pool_size"),
    }
)


class Want(Model):
    """The load that the cell must carry."""

    ops_per_second: Annotated[float, Field(gt=0)] = Field(
        description="Load to carry, in operations per second."
    )
    headroom: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.3, description="Share of the load line to keep free."
    )
    limits_us: dict[str, Annotated[float, Field(gt=0)]] | None = Field(
        None,
        description="Latency limit of each operation in microseconds, by operation name, for"
        " `request.limits.statistic`. null uses `request.limits.limits_us`.",
    )


def require_predictable(request: Patch, axes: Mapping[str, Mapping[str, Patch]]) -> None:
    """Refuse a target or an axis whose effect cannot be predicted.

    Args:
        request: fields that all cells share.
        axes: {axis: {variant: patch}}.

    Raises:
        UsageError: A target or axis cannot be predicted; names its field.
    """
    target = request.get("target")
    if isinstance(target, Mapping) and target.get("kind") == "endpoint":
        problem = "has an unknown volume or class, which search: boundary cannot predict"
        raise UsageError(Complaint(("request", "target", "kind"), problem, "endpoint"))
    for axis, variants in axes.items():
        for name, patch in variants.items():
            for field in list_patched_paths(patch):
                if field not in PREDICTED:
                    problem = "search: boundary cannot predict along it"
                    allowed = tuple(sorted(".".join(one) for one in PREDICTED))
                    path = ("axes", axis, name, *field)
                    raise UsageError(Complaint(path, problem, allowed=allowed))


class Forecast(Model):
    """What a cell was predicted to sustain, from the runs before its own. Never a measurement."""

    ops_per_second: float  # conservative estimate, below the most likely value
    low: float  # lower end of the prediction interval
    high: float
    binds: str  # resource that is predicted to be the limit


CellState = Literal[
    "measured",  # a run of it has a figure
    "no answer",  # a run of it has no figure
    "predicted",  # it was not run
    "left out",  # neither run nor predicted
]


class BoundaryCell(Model):
    """What is known about a cell."""

    name: str
    usd_per_month: float | None  # at list prices; None if a price is missing
    status: CellState
    carries: bool | None  # None if unknown, or if the load is within the prediction interval
    measured_ops_per_second: float | None
    bound: Bound | None  # bound of that figure
    predicted: Forecast | None  # if the cell was run: the prediction before the run
    error: float | None  # predicted / measured - 1; None if one of them is unknown
    why: str | None = None  # why its run does not show whether it carries the load; None if it does


BoundaryOutcome = Literal["decided", "none carries it", "not decided"]


class Boundary(Model):
    """The cheapest cell that carries a load, and the evidence."""

    want_ops_per_second: float
    headroom: float
    required_ops_per_second: float  # load line that leaves the headroom
    statistic: Statistic
    limits_us: dict[str, float]
    region: str  # region of the list prices
    outcome: BoundaryOutcome
    cell: str | None  # cheapest cell measured to carry the load; None if there is none
    runs: int  # runs that were started
    sentence: str
    stopped: str  # why the search ended
    cells: tuple[BoundaryCell, ...]  # cheapest first
    assumptions: tuple[str, ...]  # assumptions of the predictions
