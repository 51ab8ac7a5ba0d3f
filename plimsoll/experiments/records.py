"""The records of experiments in the service table, and their files in S3."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from plimsoll.aws import clients
from plimsoll.aws.drain import build_drain_condition, require_no_drain
from plimsoll.aws.items import (
    ATTEMPTS,
    CONDITION_FAILED,
    query_items,
    read_all_readable,
    read_item,
    set_attributes,
    to_item,
    unpack_item,
    write_transaction,
)
from plimsoll.aws.run_files import RunFiles
from plimsoll.errors import ExperimentNotFoundError, PlimsollError, RunStoppedError
from plimsoll.model.deployment.function_settings import RunSettings, ServiceSettings
from plimsoll.model.request.experiment import Cell, Experiment
from plimsoll.model.run.experiment_record import ExperimentRecord
from plimsoll.model.run.run_record import RunState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

EXPERIMENT = "experiment.json"
RESULT = "result.json"
REPORT = "report.html"


class Experiments:
    """The records of experiments."""

    def __init__(self, table: str) -> None:
        self._table = table

    def get(self, team: str, experiment_id: str) -> ExperimentRecord:
        """Read a record, consistently.

        Raises:
            ExperimentNotFoundError: The team has no experiment with this id.
        """
        answer = clients.dynamodb().get_item(
            TableName=self._table, Key=_record_key(team, experiment_id), ConsistentRead=True
        )
        if "Item" not in answer:
            raise ExperimentNotFoundError(f"there is no experiment {experiment_id!r}")
        return _parse_record(answer["Item"])

    def of_team(self, team: str) -> tuple[list[ExperimentRecord], int]:
        """Return a team's experiments, newest first, and the number of unreadable ones."""
        items = query_items(self._table, f"team#{team}", "begins_with(sk, :sk)", sk="experiment#")
        records, unreadable = read_all_readable(partial(_read_record, item) for item in items)
        return sorted(records, key=lambda record: record.submitted_at, reverse=True), unreadable

    def create(self, record: ExperimentRecord) -> bool:
        """Write a new record; False if its id exists, then the existing one is kept.

        Raises:
            DrainingError: The deployment is drained.
        """
        put: TransactWriteItemTypeDef = {
            "Put": {
                "TableName": self._table,
                "Item": {**to_item(record), **_record_key(record.team, record.experiment_id)},
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        }
        for _ in range(ATTEMPTS):
            failed = write_transaction(put, build_drain_condition(self._table, record.submitted_at))
            if not any(failed):
                return True
            if failed[0] == CONDITION_FAILED:
                return False
            require_no_drain(self._table, record.submitted_at)
        raise PlimsollError(f"team {record.team}: too many runs begin at once; try again")

    def change(
        self,
        record: ExperimentRecord,
        *,
        states: tuple[RunState, ...] | None = None,
        **changes: object,
    ) -> bool:
        """Set attributes of a record, as `plimsoll.aws.run_records.Records.change` does."""
        key = _record_key(record.team, record.experiment_id)
        return set_attributes(self._table, key, states=states, changes=changes)


def _parse_record(item: Mapping[str, Any]) -> ExperimentRecord:
    fields = {name: value for name, value in unpack_item(item).items() if name not in {"pk", "sk"}}
    return ExperimentRecord.model_validate(fields)


def _read_record(item: Mapping[str, Any]) -> ExperimentRecord:
    return read_item(f"the record of {item['sk']['S']}", partial(_parse_record, item))


def _record_key(team: str, experiment_id: str) -> dict[str, dict[str, str]]:
    return {"pk": {"S": f"team#{team}"}, "sk": {"S": f"experiment#{experiment_id}"}}


def open_experiments(settings: ServiceSettings) -> Experiments:
    """Return access to the records of experiments."""
    return Experiments(settings.service_table)


def open_experiment_files(settings: RunSettings, experiment_id: str) -> RunFiles:
    """Return access to an experiment's files."""
    return RunFiles(settings.results_bucket, experiment_id, folder="experiments")


def read_experiment(settings: RunSettings, experiment_id: str) -> Experiment:
    """Read the request of an experiment.

    Raises:
        FileNotFoundError: There is no such experiment.
    """
    files = open_experiment_files(settings, experiment_id)
    return files.get(EXPERIMENT, Experiment)


def make_cell_run_id(experiment_id: str, cell: Cell) -> str:
    """Return the id of a cell's run."""
    return f"{experiment_id}-{cell.index + 1:03d}"


def require_running(record: ExperimentRecord) -> None:
    """Refuse to continue an experiment that is being stopped or has ended.

    Raises:
        RunStoppedError: It is in such a state.
    """
    if record.state is not RunState.RUNNING:
        raise RunStoppedError(
            f"experiment {record.experiment_id} is {record.state}: nothing new is made for it"
        )
