"""Checks in the service table: definitions, histories, judgements, and the check of each run.

| pk | sk | what |
|---|---|---|
| `team#TEAM` | `schedule#NAME` | the check |
| `history#TEAM#NAME` | scheduled time of the run | a point of its history |
| `history#TEAM#NAME` | `judgement` | its changes, and which were announced, with a version |
| `run#RUN_ID` | `check` | the check that a run was started by |
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from plimsoll.aws import clients
from plimsoll.aws.items import query_items, read_all_readable, read_item
from plimsoll.errors import CheckNotFoundError
from plimsoll.model.base import Model
from plimsoll.model.request.check import Check
from plimsoll.model.run.check_history import HistoryPoint, Judgement, RunOfCheck

CheckItem = Mapping[str, Any]  # DynamoDB's form
Side = Literal["target", "control"]
JUDGEMENT = "judgement"
AFTER_TIMES = ":"  # sorts after every time, as these begin with a digit
ANNOUNCED_MAX = 100  # only the latest are kept, because only the latest points are judged


class Started(Model):
    """The check, point and side that a run was started for."""

    team: str
    name: str
    scheduled_at: datetime
    side: Side


class CheckStore:
    """The checks of every team, in one table."""

    def __init__(self, table: str) -> None:
        self._table = table

    def put_check(self, team: str, check: Check) -> CheckItem | None:
        """Write a check; returns the item that it replaces, None if it is new."""
        answer = clients.dynamodb().put_item(
            TableName=self._table, Item=_check_item(team, check), ReturnValues="ALL_OLD"
        )
        return answer.get("Attributes") or None

    def take_back_check(self, team: str, check: Check, replaced: CheckItem | None) -> None:
        """Put back the item that a check has replaced, or delete the check if it was new.

        Nothing happens if somebody else has written the check meanwhile.
        """
        client = clients.dynamodb()
        written = _check_item(team, check)
        ours: Any = {
            "TableName": self._table,
            "ConditionExpression": "#check = :check",
            "ExpressionAttributeNames": {"#check": "check"},
            "ExpressionAttributeValues": {":check": written["check"]},
        }
        with suppress(client.exceptions.ConditionalCheckFailedException):
            if replaced is None:
                client.delete_item(Key=_check_key(team, check.name), **ours)
            else:
                client.put_item(Item=replaced, **ours)

    def read_check(self, team: str, name: str) -> Check:
        """Read a check.

        Raises:
            CheckNotFoundError: There is no such check.
            UnreadableRecordError: This version cannot read it.
        """
        item = self._find(_check_key(team, name))
        if item is None:
            raise CheckNotFoundError(f"team {team} has no schedule {name!r}")
        return _read_check(team, item)

    def list_checks(self, team: str) -> tuple[list[Check], int]:
        """Return a team's checks, sorted by name, and the number of unreadable ones."""
        items = query_items(self._table, f"team#{team}", "begins_with(sk, :sk)", sk="schedule#")
        return read_all_readable(partial(_read_check, team, item) for item in items)

    def delete_check(self, team: str, name: str) -> bool:
        """Delete a check but not its history; False if there is none."""
        answer = clients.dynamodb().delete_item(
            TableName=self._table, Key=_check_key(team, name), ReturnValues="ALL_OLD"
        )
        return bool(answer.get("Attributes"))

    def open_point(self, team: str, name: str, point: HistoryPoint) -> bool:
        """Begin a point of a history; False if it exists, then it is kept."""
        client = clients.dynamodb()
        item: dict[str, Any] = {
            **_make_point_key(team, name, point.scheduled_at),
            "target": {"S": point.target.model_dump_json()},
        }
        if point.control is not None:
            item["control"] = {"S": point.control.model_dump_json()}
        try:
            client.put_item(
                TableName=self._table, Item=item, ConditionExpression="attribute_not_exists(pk)"
            )
        except client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def settle(self, started: Started, run: RunOfCheck) -> None:
        """Write the outcome of one run of a point; the other run is not touched."""
        clients.dynamodb().update_item(
            TableName=self._table,
            Key=_make_point_key(started.team, started.name, started.scheduled_at),
            UpdateExpression="SET #side = :run",
            ExpressionAttributeNames={"#side": started.side},
            ExpressionAttributeValues={":run": {"S": run.model_dump_json()}},
        )

    def read_points(self, team: str, name: str, *, most: int) -> tuple[HistoryPoint, ...]:
        """Read the latest points of a history, oldest first; unreadable ones are left out."""
        history = f"history#{team}#{name}"
        items = query_items(self._table, history, "sk < :end", latest=most, end=AFTER_TIMES)
        points, _ = read_all_readable(partial(_read_point, item) for item in reversed(list(items)))
        return tuple(points)

    def bind(self, run_id: str, started: Started) -> None:
        """Record which check a run was started for."""
        clients.dynamodb().put_item(
            TableName=self._table,
            Item={**_run_key(run_id), "started": {"S": started.model_dump_json()}},
        )

    def find_starter(self, run_id: str) -> Started | None:
        """Return the check that started a run; None if none did."""
        item = self._find(_run_key(run_id))
        return None if item is None else Started.model_validate_json(item["started"]["S"])

    def judgement(self, team: str, name: str) -> tuple[int, Judgement]:
        """Read the latest judgement of a history and its version; version 0 if there is none."""
        item = self._find(_make_judgement_key(team, name))
        if item is None:
            return 0, Judgement()
        return int(item["version"]["N"]), Judgement.model_validate_json(item["judgement"]["S"])

    def write_judgement(self, team: str, name: str, judgement: Judgement, *, version: int) -> bool:
        """Write a judgement if the version is unchanged; False if another call wrote first."""
        client = clients.dynamodb()
        kept = judgement.model_copy(update={"announced": judgement.announced[-ANNOUNCED_MAX:]})
        try:
            client.put_item(
                TableName=self._table,
                Item={
                    **_make_judgement_key(team, name),
                    "version": {"N": str(version + 1)},
                    "judgement": {"S": kept.model_dump_json()},
                },
                ConditionExpression="attribute_not_exists(pk) OR version = :version",
                ExpressionAttributeValues={":version": {"N": str(version)}},
            )
        except client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _find(self, key: Mapping[str, Any]) -> dict[str, Any] | None:
        answer = clients.dynamodb().get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return answer.get("Item")


def _read_check(team: str, item: Mapping[str, Any]) -> Check:
    what = f"{item['sk']['S']} of team {team}"
    return read_item(what, lambda: Check.model_validate_json(item["check"]["S"]))


def _read_point(item: Mapping[str, Any]) -> HistoryPoint:
    return read_item(f"{item['pk']['S']} {item['sk']['S']}", lambda: _parse_point(item))


def _parse_point(item: Mapping[str, Any]) -> HistoryPoint:
    sides = {
        side: RunOfCheck.model_validate_json(item[side]["S"])
        for side in ("target", "control")
        if side in item
    }
    return HistoryPoint(
        scheduled_at=datetime.fromisoformat(item["sk"]["S"]),
        target=sides["target"],
        control=sides.get("control"),
    )


def _check_key(team: str, name: str) -> dict[str, Any]:
    return {"pk": {"S": f"team#{team}"}, "sk": {"S": f"schedule#{name}"}}


def _check_item(team: str, check: Check) -> dict[str, Any]:
    return {**_check_key(team, check.name), "check": {"S": check.model_dump_json()}}


def _make_point_key(team: str, name: str, at: datetime) -> dict[str, Any]:
    return {
        "pk": {"S": f"history#{team}#{name}"},
        "sk": {"S": f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"},
    }


def _make_judgement_key(team: str, name: str) -> dict[str, Any]:
    return {"pk": {"S": f"history#{team}#{name}"}, "sk": {"S": JUDGEMENT}}


def _run_key(run_id: str) -> dict[str, Any]:
    return {"pk": {"S": f"run#{run_id}"}, "sk": {"S": "check"}}
