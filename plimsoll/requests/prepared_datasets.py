"""Datasets that an experiment prepares once: which runs share one, and which run makes it."""

import json
from dataclasses import dataclass
from typing import Any

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.request.boundary import apply_patch
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.experiment import Cell, Experiment
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.requests.cells import CheckedExperiment, expand_cells
from plimsoll.requests.checked_request import CheckedRequest, validate_request

KEEPING_MARGIN_S = 86_400  # margin for runs that wait until their team has room
_MOST = 99


@dataclass(frozen=True)
class SharedDataset:
    """A dataset that several runs share.

    Attributes:
        number: The number of the dataset, from 1.
        checked: The request that prepares it: its first run's, changed by the experiment's
            `dataset`.
        cells: The indexes of the runs that share it.
    """

    number: int
    checked: CheckedRequest
    cells: tuple[int, ...]

    @property
    def request(self) -> Request:
        """The request that prepares it."""
        return self.checked.request

    @property
    def name(self) -> str:
        """The name of the run that prepares it."""
        return f"dataset-{self.number}"

    def run_id(self, experiment_id: str) -> str:
        """Return the id of the run that prepares it."""
        return f"{experiment_id}-d{self.number:02d}"


def plan_shared_datasets(checked: CheckedExperiment, *, local: bool) -> tuple[SharedDataset, ...]:
    """Return the datasets that are prepared once; empty if the experiment does not ask for it.

    Args:
        checked: What is asked for.
        local: Whether runs are on one machine, where any volume can take a copy. On RDS a restored
            instance gets the volume of the snapshot, and a changed volume would be optimized for
            hours while the target is measured; so there each volume has a dataset of its own.

    Raises:
        UsageError: A run's target cannot be restored, or `dataset` changes the dataset's content.
    """
    if checked.experiment.dataset is None:
        return ()
    groups: dict[str, list[int]] = {}
    for index, request in enumerate(checked.requests):
        _require_restorable(checked.cells[index])
        groups.setdefault(_make_sharing_key(request, local=local), []).append(index)
    if len(groups) > _MOST:
        problem = f"the runs have {len(groups)} datasets, more than {_MOST}: none is shared"
        raise UsageError(Complaint(("dataset",), problem))
    return tuple(
        _plan_shared_dataset(checked, number, cells, local=local)
        for number, cells in enumerate(groups.values(), 1)
    )


def find_dataset_of_cell(datasets: tuple[SharedDataset, ...], cell: Cell) -> SharedDataset | None:
    """Return the dataset of a run; None if none is prepared."""
    return next((one for one in datasets if cell.index in one.cells), None)


def compute_keeping_s(experiment: Experiment, shared: SharedDataset) -> int:
    """Return the seconds after which a dataset is deleted, whatever happens to its experiment.

    They allow for its preparation and all runs of the experiment in sequence, each up to its time
    limit, and a day.
    """
    runs_s = sum(cell.request.time_limit_s for cell in expand_cells(experiment))
    return shared.request.time_limit_s + runs_s + KEEPING_MARGIN_S


def _plan_shared_dataset(
    checked: CheckedExperiment, number: int, cells: list[int], *, local: bool
) -> SharedDataset:
    experiment, first = checked.experiment, checked.requests[cells[0]]
    asked: dict[str, Any] = apply_patch(first.request.model_dump(mode="json"), experiment.dataset)
    own: dict[str, Any] = {
        "name": f"dataset-{number}",
        "tags": {"experiment": experiment.name, "dataset": str(number)},
        "faults": [],
        "toggle": None,  # it measures nothing
        "phases": [],
        "budget_usd": (experiment.dataset or {}).get("budget_usd"),
    }
    try:
        request = validate_request({**asked, **own})
    except UsageError as error:
        raise error.within("dataset") from None
    if _make_sharing_key(request, local=local) != _make_sharing_key(first, local=local):
        problem = (
            "it changes the dataset's engine, version, volume, rows, their order or seed, which are"
            " its runs'"
        )
        raise UsageError(Complaint(("dataset",), problem))
    return SharedDataset(number, request, tuple(cells))


def _require_restorable(cell: Cell) -> None:
    """Refuse a target that has no snapshots.

    Raises:
        UsageError: The run's target has none.
    """
    target = cell.request.target
    problem = None
    if not isinstance(target, RdsTarget | CassandraTarget):
        problem = f"a target of kind {target.kind} is not restored from a snapshot"
    elif target.snapshot is not None:
        problem = "target.snapshot is a dataset of your own, so none is prepared"
    elif target.volume.type == "nvme":
        problem = "nvme, the instance's local disks, has no snapshots"
    elif isinstance(target, CassandraTarget) and target.nodes > 1:
        problem = (
            "in a cluster of several nodes each has rows of its own, and a snapshot holds those"
            " of one"
        )
    if problem is not None:
        raise UsageError(
            Complaint(("dataset",), f"{problem} (run {cell.name}): leave `dataset` out")
        )


def _make_sharing_key(checked: CheckedRequest, *, local: bool) -> str:
    """Return a key that is equal for runs that can share a dataset."""
    request = checked.request
    target = request.target
    datasets = [
        [
            [compiled.dataset, compiled.records, compiled.dataset_parameters],
            [
                [table.create_sql, table.index_sql, table.reference_sql, repr(table.row)]
                for table in compiled.tables
            ],
        ]
        for compiled in checked.datasets
    ]
    volume: object = None
    version = None
    if isinstance(target, RdsTarget):
        version = target.engine_version
        volume = None if local else target.volume.model_dump(mode="json")
    elif isinstance(target, CassandraTarget) and not local:
        volume = target.volume.size_gib  # EBS cannot create a volume smaller than its snapshot
    return json.dumps(
        [
            [target.kind, target.engine, version, target.database, volume],
            datasets,
            checked.schema,
            request.load.seed,
            request.prepare.load_order,
        ]
    )
