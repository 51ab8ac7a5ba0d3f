"""Lists a team's runs, newest first, a page at a time."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.aws import clients
from plimsoll.aws.items import log_unreadable
from plimsoll.aws.run_records import read_run
from plimsoll.complaints import Complaint
from plimsoll.errors import UnreadableRecordError, UsageError
from plimsoll.model.deployment.tables import RUNS_BY_TEAM
from plimsoll.model.run.run_record import RunFigures, RunRecord, RunState
from plimsoll.model.service.answers import Progress, RunSummary, ThroughputInterval

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef


# Queries of up to 1 MiB each for one page. A search for a rare tag stops after them.
_MOST_QUERIES = 10
_LONGEST_CURSOR = 400


@dataclass(frozen=True)
class PageOfRuns:
    """One page of runs.

    Attributes:
        runs: The runs, newest first.
        next_cursor: The cursor of the next page; None if this is the last.
        unreadable: The number of records that this version cannot read and that are left out.
    """

    runs: list[RunRecord]
    next_cursor: str | None
    unreadable: int


def list_page(
    table: str,
    team: str,
    *,
    state: RunState | None = None,
    tag: tuple[str, str] | None = None,
    target: str | None = None,
    cursor: str | None = None,
    limit: int = 20,
) -> PageOfRuns:
    """Read a page of a team's runs, newest first. Unreadable records are left out and counted.

    Args:
        table: The runs table.
        team: The team.
        state: Only runs in this state.
        tag: Only runs with this tag and value.
        target: Only runs whose target description contains this text.
        cursor: The `next_cursor` of the page before.
        limit: The most runs in a page. A page with fewer may still have a next one.

    Raises:
        UsageError: The cursor is not one that this function returned.
    """
    start = _read_cursor(team, cursor) if cursor is not None else None
    records: list[RunRecord] = []
    unreadable = 0
    for _ in range(_MOST_QUERIES):
        query = _build_query(table, team, state, tag, target)
        if "FilterExpression" not in query:  # DynamoDB applies Limit before the filter
            query["Limit"] = limit + 1
        if start is not None:
            query["ExclusiveStartKey"] = start
        answer = clients.dynamodb().query(**query)
        for item in answer["Items"]:
            if len(records) > limit:
                break
            try:
                records.append(read_run(item))
            except UnreadableRecordError as error:
                log_unreadable(error)
                unreadable += 1
        start = answer.get("LastEvaluatedKey")
        if start is None or len(records) >= limit:
            break
    if len(records) > limit:
        last = records[limit - 1]
        following = _write_cursor(last.run_id, last.submitted_at.isoformat())
        return PageOfRuns(records[:limit], following, unreadable)
    cursor = _write_cursor(start["run_id"]["S"], start["submitted_at"]["S"]) if start else None
    return PageOfRuns(records, cursor, unreadable)


def _build_query(
    table: str,
    team: str,
    state: RunState | None,
    tag: tuple[str, str] | None,
    target: str | None,
) -> "QueryInputTypeDef":
    names = {"#team": "team"}
    values: dict[str, Any] = {":team": {"S": team}}
    filters = []
    if state is not None:
        names["#state"], values[":state"] = "state", {"S": state.value}
        filters.append("#state = :state")
    if tag is not None:
        names |= {"#tags": "tags", "#tag": tag[0]}
        values[":tag"] = {"S": tag[1]}
        filters.append("#tags.#tag = :tag")
    if target is not None:
        names["#target_words"], values[":target"] = "target_words", {"S": target}
        filters.append("contains(#target_words, :target)")
    query: QueryInputTypeDef = {
        "TableName": table,
        "IndexName": RUNS_BY_TEAM.name,
        "KeyConditionExpression": "#team = :team",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
        "ScanIndexForward": False,
    }
    if filters:
        query["FilterExpression"] = " AND ".join(filters)
    return query


def _write_cursor(run_id: str, submitted_at: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([run_id, submitted_at]).encode()).decode()


def _read_cursor(team: str, cursor: str) -> Mapping[str, Any]:
    """Return the key to continue after; the team is the caller's, whatever the cursor says."""
    try:
        run_id, submitted_at = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
        good = isinstance(run_id, str) and isinstance(submitted_at, str)
    except (binascii.Error, ValueError, TypeError, RecursionError):
        good = False
    if not good or len(cursor) > _LONGEST_CURSOR or not (run_id and submitted_at):
        problem = "is none that a page of runs gave as `next_cursor`"
        raise UsageError(Complaint(("cursor",), problem, cursor))
    return {"team": {"S": team}, "run_id": {"S": run_id}, "submitted_at": {"S": submitted_at}}


# A run as lists show it.


_NO_FLOATS = ("capacity_ops_per_second", "cost_usd")  # kept as decimal text in the record


def summarize_record(record: RunRecord) -> RunSummary:
    """Build a run's entry in a list of runs."""
    return RunSummary.model_validate(list_summary_fields(record, RunSummary))


def list_summary_fields(record: RunRecord, model: type[RunSummary]) -> dict[str, object]:
    """Return the field values for a summary model (or a subclass) that the record has."""
    values = {name: getattr(record, name) for name in model.model_fields if hasattr(record, name)}
    values |= {name: _parse_decimal(getattr(record, name)) for name in _NO_FLOATS}
    if record.local:  # the record's cost is what AWS would bill; nothing was spent
        values["cost_usd"] = None
    values["expected_usd"] = _parse_decimal(record.quoted_usd)
    values["progress"] = Progress(step=record.step, steps_finished=record.steps_finished)
    return values | (_list_figure_fields(record.figures) if record.figures else {})


def _list_figure_fields(figures: RunFigures) -> dict[str, object]:
    interval = None
    if figures.interval is not None:
        low, high = map(float, figures.interval)
        interval = ThroughputInterval(low_ops_per_second=low, high_ops_per_second=high)
    return {
        "axis": figures.axis,
        "bound": figures.bound,
        "interval": interval,
        "curve": tuple((float(load), float(figure)) for load, figure in figures.curve),
    }


def _parse_decimal(decimal: str | None) -> float | None:
    return None if decimal is None else float(decimal)
