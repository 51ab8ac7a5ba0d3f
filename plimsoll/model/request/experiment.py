"""An experiment: a matrix of runs that share a request and differ along named axes. No I/O.

The cells run in an order drawn from a recorded seed, so that drift of their environment (a warming
machine, a busier zone) does not look like an effect of an axis.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint, FieldPath
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.request.boundary import (
    Patch,
    Want,
    apply_patch,
    list_patched_paths,
    require_predictable,
)
from plimsoll.model.request.request import Name, Request

CELLS_MOST = 200  # the history of one workflow execution must hold them all
AT_ONCE_MOST = 40  # AWS's limit for an inline Map
FROM_CELL = ("name", "team", "tags")  # fields of a request that the experiment sets itself
FRESH_TARGET = "fresh_target"  # tag with the number of a run's fresh target; no axis can have it

Variants = Annotated[dict[Name, Patch], Field(min_length=1, max_length=50)]


class Pairs(Model):
    """Two variants of an axis whose runs alternate step by step."""

    axis: Name = Field(description="Axis of both variants.")
    of: tuple[Name, Name] = Field(description="The two variants.")
    count: Annotated[int, Field(ge=3, le=20)] = Field(
        8, description="Number of pairs of steps: each variant repeats its load this often."
    )


class Repeat(Model):
    """How often each cell is repeated, each time on a target of its own."""

    fresh: Annotated[int, Field(ge=2, le=20)] = Field(
        description="Number of runs of each cell. Each run has a target that is created, prepared"
        " and deleted for it alone."
    )


class Experiment(Model):
    """A matrix of runs: one (or `repeat.fresh`) for each combination of the axes' variants."""

    name: Name = Field(description="Name of the experiment; need not be unique.")
    description: str = Field("", description="Purpose of the experiment, in your words.")
    team: Name = Field("default", description="Team whose limits the runs count against.")
    request: Patch = Field(description="Request that all runs share, without `name` and `team`.")
    axes: Annotated[dict[Name, Variants], Field(min_length=1, max_length=6)] = Field(
        description="Differences between the runs: axis name -> variant name -> the fields of the"
        " request that it sets. A mapping is merged into the shared request field by field; any"
        " other value replaces the shared one."
    )
    dataset: Patch | None = Field(
        None,
        description="If set, even to `{}`, each dataset is loaded once, kept as a snapshot and"
        " restored for every run that shares it. The fields given here change the request of the"
        " run that loads it, such as `target.instance_class` or `time_limit_s`. null means each"
        " run loads its own dataset.",
    )
    at_once: Annotated[int, Field(ge=1, le=AT_ONCE_MOST)] = Field(
        1, description="Maximum number of runs at the same time."
    )
    batch_size: Annotated[int, Field(ge=1, le=CELLS_MOST)] | None = Field(
        None,
        description="Runs per batch; the next batch starts when all runs of a batch have ended."
        " null means a single batch.",
    )
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = Field(
        None, description="Random seed of the order of the runs. null draws one and records it."
    )
    search: Literal["matrix", "boundary"] = Field(
        "matrix",
        description="`matrix` runs every cell. `boundary` runs one cell after another until the"
        " cheapest that carries `want` is found, and predicts most of the others.",
    )
    want: Want | None = Field(
        None,
        description="Load that a `boundary` search must find a cell for. null unless `search`"
        " is `boundary`.",
    )
    pairs: Pairs | None = Field(
        None,
        description="Two variants of an axis whose runs go at the same time and alternate step by"
        " step, so that their ratio is computed from pairs. null means no pairs.",
    )

    repeat: Repeat | None = Field(
        None,
        description="If set, each cell is run several times, each time on a fresh target, so that"
        " intervals hold for targets of its kind and not only for one target. null runs each cell"
        " once.",
    )

    @property
    def runs_per_cell(self) -> int:
        """The number of runs of each combination of variants."""
        return self.repeat.fresh if self.repeat else 1

    @property
    def runs_at_once(self) -> int:
        """The most runs at the same time, including those that alternate."""
        return max(self.at_once, 2) if self.pairs else self.at_once

    @model_validator(mode="after")
    def _can_be_laid_out(self) -> Self:
        sizes = [len(variants) for variants in self.axes.values()]
        if self.repeat is not None:
            sizes.append(self.repeat.fresh)
        if prod(sizes) > CELLS_MOST:
            product_of = " x ".join(map(str, sizes))
            problem = f"{product_of} = {prod(sizes)} runs are more than {CELLS_MOST}"
            raise UsageError(Complaint(("axes",), problem))
        patches: dict[FieldPath, Patch] = {("request",): self.request} | {
            ("axes", axis, name): patch
            for axis, variants in self.axes.items()
            for name, patch in variants.items()
        }
        if self.dataset is not None:
            patches["dataset",] = self.dataset
        for path, patch in patches.items():
            for field in FROM_CELL:
                if field in patch:
                    problem = "a run of an experiment gets its own"
                    raise UsageError(Complaint((*path, field), problem))
            if patch.get("expect"):
                problem = "rules apply to a single run; an experiment answers what to buy"
                raise UsageError(Complaint((*path, "expect"), problem))
        self._refuse_overlapping_axes()
        self._require_known_pair()
        self._require_known_search()
        if self.repeat is not None and self.pairs is not None:
            problem = (
                "cannot go with pairs, which compares steps of two targets; repeat compares fresh"
                " targets"
            )
            raise UsageError(Complaint(("repeat",), problem))
        return self

    @property
    def target_axes(self) -> tuple[str, ...]:
        """The axes that change the target; the other axes are compared on each target."""
        return tuple(
            axis
            for axis, variants in self.axes.items()
            if any(
                leaf[0] == "target"
                for patch in variants.values()
                for leaf in list_patched_paths(patch)
            )
        )

    def _refuse_overlapping_axes(self) -> None:
        owners: dict[tuple[str, ...], str] = {}
        for axis, variants in self.axes.items():
            for field in sorted(
                {leaf for patch in variants.values() for leaf in list_patched_paths(patch)}
            ):
                if field in owners:
                    problem = (
                        f"it changes {'.'.join(field)}, which the axis {owners[field]} changes"
                        " too; one of them would have no effect"
                    )
                    raise UsageError(Complaint(("axes", axis), problem))
                owners[field] = axis

    def _require_known_pair(self) -> None:
        if self.pairs is None:
            return
        axis, of = self.pairs.axis, self.pairs.of
        if axis not in self.axes:
            problem = "is not an axis of this experiment"
            raise UsageError(Complaint(("pairs", "axis"), problem, axis, tuple(self.axes)))
        if axis not in self.target_axes:
            problem = "does not change the target, and only targets are compared in pairs"
            raise UsageError(Complaint(("pairs", "axis"), problem, axis, self.target_axes))
        known = tuple(self.axes[axis])
        for place, name in enumerate(of):
            if name not in known:
                problem = f"is not a variant of {axis}"
                raise UsageError(Complaint(("pairs", "of", place), problem, name, known))
        if of[0] == of[1]:
            raise UsageError(Complaint(("pairs", "of"), "two different variants", of[0]))

    def _require_known_search(self) -> None:
        if (self.search == "boundary") != (self.want is not None):
            problem = "search: boundary and want: {ops_per_second: ...} need each other"
            raise UsageError(Complaint(("want",) if self.want is None else ("search",), problem))
        if self.want is None:
            return
        others = {
            "pairs": (self.pairs, "runs of a pair go at once"),
            "dataset": (self.dataset, "datasets are prepared before any run, of every volume"),
            "at_once": (self.at_once > 1, "what is run next follows from what was measured"),
            "batch_size": (self.batch_size, "what is run next follows from what was measured"),
            "repeat": (self.repeat, "predictions are made from one run of a cell"),
        }
        for field, (given, why) in others.items():
            if given is not None and given is not False:
                problem = f"cannot go with search: boundary, since {why}"
                raise UsageError(Complaint((field,), problem))
        require_predictable(self.request, self.axes)


class Cell(Model):
    """One run of an experiment."""

    # Position in the order of the axes, of which the last varies fastest; if cells are repeated,
    # the number of the fresh target varies faster still
    index: int
    name: str  # names of its variants, joined; ends in `-r2` for the second fresh target
    variants: dict[str, str]  # {axis: variant}
    request: Request
    fresh_target: int | None = None  # 1 to `repeat.fresh`; None if the cell is not repeated


def combinations(experiment: Experiment) -> list[dict[str, str]]:
    """List the variants of every cell, with the last axis varying fastest."""
    names = [list(variants) for variants in experiment.axes.values()]
    return [dict(zip(experiment.axes, chosen, strict=True)) for chosen in product(*names)]


def list_fresh_targets(experiment: Experiment) -> list[int | None]:
    """List the numbers of a cell's fresh targets; only None if cells are not repeated."""
    return [*range(1, experiment.repeat.fresh + 1)] if experiment.repeat else [None]


def name_cell(variants: Mapping[str, str], fresh_target: int | None = None) -> str:
    """Name a run by its variants and the number of its fresh target: `iops-1000-reads-r2`."""
    joined = "-".join(variants.values())
    return joined if fresh_target is None else f"{joined}-r{fresh_target}"


def make_cell_request(
    experiment: Experiment, variants: Mapping[str, str], fresh_target: int | None = None
) -> dict[str, Any]:
    """Return the request of a cell, not yet validated."""
    value: dict[str, Any] = experiment.request
    for axis, variant in variants.items():
        value = apply_patch(value, experiment.axes[axis][variant])
    if experiment.pairs is not None and find_partner(experiment, variants) is not None:
        repeated = {"least": experiment.pairs.count, "most": experiment.pairs.count}
        value = apply_patch(value, {"limits": {"confirmation": repeated}})
    if experiment.want is not None and experiment.want.limits_us is not None:
        value = apply_patch(value, {"limits": {"limits_us": experiment.want.limits_us}})
    tags = {"experiment": experiment.name, **variants}
    if fresh_target is not None:
        tags[FRESH_TARGET] = str(fresh_target)
    own = {"name": name_cell(variants, fresh_target), "team": experiment.team, "tags": tags}
    return {**value, **own}


def find_partner(experiment: Experiment, variants: Mapping[str, str]) -> dict[str, str] | None:
    """Return the variants of the cell that a cell alternates with; None if there is none."""
    pairs = experiment.pairs
    if pairs is None or variants[pairs.axis] not in pairs.of:
        return None
    first, second = pairs.of
    return {**variants, pairs.axis: second if variants[pairs.axis] == first else first}


def find_origin(
    experiment: Experiment, variants: Mapping[str, str], names: Sequence[str | int]
) -> tuple[str | int, ...]:
    """Find where a field of a cell's request is written: in a variant, or in the shared part."""
    deepest: tuple[int, tuple[str | int, ...]] = (
        _depth_of_path(experiment.request, names),
        ("request",),
    )
    for axis, variant in variants.items():
        depth = _depth_of_path(experiment.axes[axis][variant], names)
        if depth >= deepest[0] and depth > 0:
            deepest = (depth, ("axes", axis, variant))
    return (*deepest[1], *names)


def _depth_of_path(value: Any, names: Sequence[str | int]) -> int:
    for depth, name in enumerate(names):
        inside = isinstance(value, Mapping) and name in value
        listed = isinstance(value, list) and isinstance(name, int) and name < len(value)
        if not inside and not listed:
            return depth
        value = value[name]
    return len(names)


def shuffle_cells(count: int, seed: int) -> tuple[int, ...]:
    """Shuffle the cells by a hash of the seed and their index; the same on every machine."""
    return tuple(
        sorted(range(count), key=lambda i: hashlib.sha256(f"{seed}/{i}".encode()).digest())
    )


def draw_order(experiment: Experiment, seed: int) -> tuple[int, ...]:
    """Draw the order in which the cells start.

    Repeated cells start in rounds, each in an order of its own: whenever an experiment is stopped,
    all cells have about equally many runs, and the runs of a cell are spread over its whole time.
    """
    fresh = experiment.runs_per_cell
    count = fresh * prod(len(variants) for variants in experiment.axes.values())
    return tuple(sorted(shuffle_cells(count, seed), key=lambda index: index % fresh))


def split_batches(cells: Sequence[int], size: int | None) -> list[list[int]]:
    """Split the order into batches."""
    step = size or max(1, len(cells))
    return [list(cells[start : start + step]) for start in range(0, len(cells), step)]


def plan_batches(experiment: Experiment, cells: Sequence[int]) -> list[list[int]]:
    """Split an experiment's order into batches; two alternating cells form a batch of their own.

    Args:
        experiment: the experiment.
        cells: its cells in the order in which they are to start.
    """
    if experiment.pairs is None:
        return split_batches(cells, experiment.batch_size)
    named = combinations(experiment)
    others = {i: find_partner(experiment, named[i]) for i in cells}
    single = [i for i in cells if others[i] is None]
    alone = split_batches(single, 1 if experiment.at_once == 1 else experiment.batch_size)
    paired = [[i, named.index(other)] for i in cells if (other := others[i]) is not None]
    once = [pair for place, pair in enumerate(paired) if pair[::-1] not in paired[:place]]
    by_first = {batch[0]: batch for batch in (*alone, *once)}
    return [by_first[i] for i in cells if i in by_first]


# --- turns: steps of two runs that alternate by the clock, so that drift affects both alike ---


GAP_S = 2.0  # time between steps, for the last operations of one and the connections of the next


class Turn(Model):
    """The slots of one of two runs: even or odd ones of equal slots since the epoch."""

    beside: str  # id of the other run
    second: bool  # True if this run has the odd slots
    slot_s: int

    def wait_ms(self, window_start_epoch_ms: int) -> int:
        """Return the delay of a step after which its window begins with a slot of its run."""
        slot_ms = self.slot_s * 1000
        mine = slot_ms if self.second else 0
        return (mine - window_start_epoch_ms) % (2 * slot_ms)


def slot_s(load_s: float, period_s: int) -> int:
    """Return the seconds of a slot: one step of either run, in whole metric periods.

    Args:
        load_s: longer of the two runs' steps, warm-up and window.
        period_s: period of the metrics; each slot begins with a period.
    """
    return period_s * math.ceil((load_s + GAP_S) / period_s)
