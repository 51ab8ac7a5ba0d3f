"""The runs table: reads a run's record, and changes it under conditions."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.aws.items import read_item, set_attributes, to_item, unpack_item
from plimsoll.errors import (
    BudgetPassedError,
    RunNotFoundError,
    RunStoppedError,
    TimeLimitPassedError,
)
from plimsoll.model.deployment.function_settings import RunSettings
from plimsoll.model.run.run_record import RunRecord, RunState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import PutTypeDef, TransactWriteItemTypeDef


def read_run(item: Mapping[str, Any]) -> RunRecord:
    """Read an item of the runs table.

    Raises:
        UnreadableRecordError: This version cannot read it.
    """
    values = unpack_item(item)
    what = f"the record of run {values.get('run_id')}"
    return read_item(what, lambda: RunRecord.model_validate(values))


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


class Records:
    """The records of a runs table."""

    def __init__(self, table: str) -> None:
        self._table = table

    def get(self, run_id: str) -> RunRecord:
        """Read a record, consistently.

        Raises:
            RunNotFoundError: There is no such run.
            UnreadableRecordError: This version cannot read it.
        """
        record = self.find(run_id)
        if record is None:
            raise RunNotFoundError(f"there is no run {run_id!r}")
        return record

    def find(self, run_id: str) -> RunRecord | None:
        """Read a record, consistently; None if there is none.

        Raises:
            UnreadableRecordError: This version cannot read it.
        """
        answer = clients.dynamodb().get_item(
            TableName=self._table, Key={"run_id": {"S": run_id}}, ConsistentRead=True
        )
        if "Item" not in answer:
            return None
        return read_run(answer["Item"])

    def put_if_new(self, record: RunRecord) -> "TransactWriteItemTypeDef":
        """Return the write that `create` does, for use in a transaction."""
        return {"Put": self._put_if_new(record)}

    def _put_if_new(self, record: RunRecord) -> "PutTypeDef":
        return {
            "TableName": self._table,
            "Item": to_item(record),
            "ConditionExpression": "attribute_not_exists(run_id)",
        }

    def create(self, record: RunRecord) -> bool:
        """Write a new record; return False if its id exists, whose record stays unchanged."""
        client = clients.dynamodb()
        try:
            client.put_item(**self._put_if_new(record))
        except client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def change(
        self, run_id: str, *, states: tuple[RunState, ...] | None = None, **changes: object
    ) -> bool:
        """Set attributes of a record; None removes one.

        Args:
            run_id: The run.
            states: The states in which the run may be changed; None for any.
            **changes: The attributes of `RunRecord`.

        Returns:
            False if the run was in none of `states`.
        """
        key = {"run_id": {"S": run_id}}
        return set_attributes(self._table, key, states=states, changes=changes)

    def require_running(self, run_id: str) -> RunRecord:
        """Read the record of a run that may go on.

        Raises:
            RunStoppedError: The run is being stopped, or has ended.
            TimeLimitPassedError: The run's time limit has passed.
            BudgetPassedError: The deadline that its budget sets has passed.
        """
        record = self.get(run_id)
        if record.state is not RunState.RUNNING:
            raise RunStoppedError(f"run {run_id} is {record.state}: nothing new is made for it")
        if record.expires_at is not None and now() >= record.expires_at:
            raise build_deadline_error(record, f"passed in its {record.phase} phase")
        return record


def records_of(settings: RunSettings) -> Records:
    """Return the runs table."""
    return Records(settings.runs_table)


def build_deadline_error(record: RunRecord, how: str) -> TimeLimitPassedError | BudgetPassedError:
    """Build the error for a run past its deadline: which limit set it, and `how` it passed."""
    if record.budget is None or record.runs_for_s == record.time_limit_s:
        limit = words.format_duration(record.time_limit_s)
        return TimeLimitPassedError(f"the run's time limit of {limit} {how}")
    return BudgetPassedError(
        f"the run's budget of {words.format_unit_usd(float(record.budget.usd))}, enough for"
        f" {words.format_duration(record.runs_for_s)} and the deletion of its target, {how}"
    )


def require_loading_budget(record: RunRecord, at: datetime) -> None:
    """Refuse further loading once the part of the budget for it is spent.

    Raises:
        BudgetPassedError: It is spent.
    """
    if record.budget is None or record.prepare_at is None:
        return
    if at >= record.prepare_at + timedelta(seconds=record.budget.loading_s):
        raise BudgetPassedError(
            f"the run's budget of {words.format_unit_usd(float(record.budget.usd))} pays for"
            f" {words.format_duration(record.budget.loading_s)} of loading the dataset; they passed"
        )
