"""The datasets that an experiment prepares once: which of its runs share one, and who makes it."""

import json
from dataclasses import dataclass
from typing import Any

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.request.boundary import laid
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.experiment import Cell, Experiment
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.requests.cells import cells_of
from plimsoll.requests.request_values import checked_request
from plimsoll.requests.request_workload import prepared_workloads

KEEPING_MARGIN_S = 86_400  # for runs that wait until their team has room for them
_MOST = 99


@dataclass(frozen=True)
class SharedDataset:
    """A dataset that some runs share.

    Attributes:
        number: From 1.
        request: What prepares it: its first run's request, as `dataset` of the experiment says.
        cells: Indexes of those runs.
    """

    number: int
    request: Request
    cells: tuple[int, ...]

    @property
    def name(self) -> str:
        """What the run that prepares it is called."""
        return f"dataset-{self.number}"

    def run_id(self, experiment_id: str) -> str:
        """Name the run that prepares it."""
        return f"{experiment_id}-d{self.number:02d}"


def shared_datasets(experiment: Experiment, *, local: bool) -> tuple[SharedDataset, ...]:
    """Say which datasets are prepared once; none where the experiment does not ask for it.

    Args:
        experiment: What is asked for.
        local: On one machine any volume takes a copy. An instance of RDS that is restored gets the
            snapshot's volume, and a change of it is worked off for hours while the target is
            measured: there each volume has a dataset of its own.

    Raises:
        UsageError: A run's target cannot be restored, or `dataset` changes what is in the dataset.
    """
    if experiment.dataset is None:
        return ()
    groups: dict[str, list[Cell]] = {}
    for cell in cells_of(experiment):
        _require_restorable(cell)
        groups.setdefault(_key(cell.request, local=local), []).append(cell)
    if len(groups) > _MOST:
        problem = f"the runs have {len(groups)} datasets, more than {_MOST}: none is shared"
        raise UsageError(Complaint(("dataset",), problem))
    return tuple(
        _shared(experiment, number, cells, local=local)
        for number, cells in enumerate(groups.values(), 1)
    )


def dataset_of(datasets: tuple[SharedDataset, ...], cell: Cell) -> SharedDataset | None:
    """Find the dataset of a run; None where none is prepared."""
    return next((one for one in datasets if cell.index in one.cells), None)


def kept_for_s(experiment: Experiment, shared: SharedDataset) -> int:
    """Give the seconds after which a dataset goes, whatever becomes of its experiment.

    Its preparation and all of the experiment's runs, one after the other, each to its time limit,
    and a day.
    """
    runs_s = sum(cell.request.time_limit_s for cell in cells_of(experiment))
    return shared.request.time_limit_s + runs_s + KEEPING_MARGIN_S


def _shared(
    experiment: Experiment, number: int, cells: list[Cell], *, local: bool
) -> SharedDataset:
    first = cells[0].request
    asked: dict[str, Any] = laid(first.model_dump(mode="json"), experiment.dataset)
    own: dict[str, Any] = {
        "name": f"dataset-{number}",
        "tags": {"experiment": experiment.name, "dataset": str(number)},
        "faults": [],
        "toggle": None,  # it measures nothing
        "phases": [],
        "budget_usd": (experiment.dataset or {}).get("budget_usd"),
    }
    try:
        request = checked_request({**asked, **own})
    except UsageError as error:
        raise error.within("dataset") from None
    if _key(request, local=local) != _key(first, local=local):
        problem = (
            "it changes the dataset's engine, version, volume, rows, their order or seed, which are"
            " its runs'"
        )
        raise UsageError(Complaint(("dataset",), problem))
    return SharedDataset(number, request, tuple(cell.index for cell in cells))


def _require_restorable(cell: Cell) -> None:
    """Refuse what has no snapshot.

    Raises:
        UsageError: The run's target is such a one.
    """
    target = cell.request.target
    problem = None
    if not isinstance(target, RdsTarget | CassandraTarget):
        problem = f"a target of kind {target.kind} is not restored from a snapshot"
    elif target.snapshot is not None:
        problem = "target.snapshot is a dataset of your own: nothing is prepared"
    elif target.volume.type == "nvme":
        problem = "nvme, the instance's own disks, has no snapshots"
    elif isinstance(target, CassandraTarget) and target.nodes > 1:
        problem = "of a cluster of several nodes each has rows of its own, and one a snapshot"
    if problem is not None:
        raise UsageError(
            Complaint(("dataset",), f"{problem} (run {cell.name}): leave `dataset` out")
        )


def _key(request: Request, *, local: bool) -> str:
    """Write what two runs must have in common to share a dataset."""
    target = request.target
    datasets = [
        [
            [compiled.dataset, compiled.records, compiled.dataset_parameters],
            [[table.create_sql, table.index_sql, repr(table.row)] for table in compiled.tables],
        ]
        for compiled in prepared_workloads(request)
    ]
    volume: object = None
    version = None
    if isinstance(target, RdsTarget):
        version = target.engine_version
        volume = None if local else target.volume.model_dump(mode="json")
    elif isinstance(target, CassandraTarget) and not local:
        volume = target.volume.size_gib  # EBS makes none that is smaller than its snapshot
    return json.dumps(
        [
            [target.kind, target.engine, version, target.database, volume],
            datasets,
            request.load.seed,
            request.prepare.load_order,
        ]
    )
