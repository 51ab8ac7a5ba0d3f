"""The limits of a team: counters and grants in one DynamoDB item, changed in one update.

A team's item of the service table (`team#TEAM`, `limits`) counts what its runs hold and what they
spend in a month, and has each run's share (`grant#RUN`). Acquiring or releasing is one conditional
update of this item. DynamoDB serializes such updates, so no limit is exceeded by concurrent
requests, and a repetition changes nothing. A run's record is written in the same transaction as its
share. Dollars are counted in millionths: when acquired, the most that a run may cost; when
released, what it did cost.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeSerializer

from plimsoll.aws import clients
from plimsoll.aws.drain import build_drain_condition, require_no_drain
from plimsoll.aws.items import (
    ATTEMPTS,
    CONDITION_FAILED,
    log_unreadable,
    read_item,
    unpack_item,
    write_transaction,
)
from plimsoll.errors import LimitReachedError, PlimsollError, UnreadableRecordError
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.deployment.function_settings import TeamSettings
from plimsoll.teams.registry import find_team
from plimsoll.teams.room import MICRO, Ask, Grant, Room, spend_month

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef, UpdateTypeDef

_GRANT = "grant#"


def find_team_limits(settings: TeamSettings, team: str) -> "Limits | None":
    """Return a team's limits; None if the deployment does not have the team."""
    known = find_team(settings, team)
    return Limits(settings.service_table, team, known) if known else None


class Limits:
    """The limits of one team, as the service table counts them."""

    def __init__(self, table: str, team: str, limits: Team) -> None:
        self._table = table
        self._team = team
        self._limits = Room(team, limits)
        self._key = {"pk": {"S": f"team#{team}"}, "sk": {"S": "limits"}}

    def acquire(
        self,
        run_id: str,
        ask: Ask,
        *,
        at: datetime,
        begins_within: timedelta = timedelta(hours=1),
        together_with: "TransactWriteItemTypeDef | None" = None,
        in_drain: bool = True,
    ) -> bool:
        """Acquire a run's share.

        Args:
            run_id: The run.
            ask: The needs of the run.
            at: The current time.
            begins_within: The longest time until the run's workflow starts.
            together_with: A conditional write of another item, made in the same transaction.
            in_drain: Whether the run may begin while the deployment is drained.

        Returns:
            False if the run already holds its share, or the other write's condition fails.

        Raises:
            LimitReachedError: A limit would be exceeded, or a price that it needs is missing.
            DrainingError: The deployment is drained, and the run may not begin then.
        """
        self._limits.require_possible(ask)
        grant = Grant(
            clients=ask.clients,
            iops=ask.iops,
            usd_micro=round((ask.usd_most or 0.0) * MICRO),
            month=spend_month(at),
            at=at,
            begins_within_s=round(begins_within.total_seconds()),
        )
        update = self._build_update(*self._describe_taking(run_id, grant))
        others = [together_with] if together_with else []
        conditions = [] if in_drain else [build_drain_condition(self._table, at)]
        for _ in range(ATTEMPTS):
            failed = write_transaction({"Update": update}, *others, *conditions)
            if not any(failed):
                return True
            item = self._item()
            if _GRANT + run_id in item or CONDITION_FAILED in failed[1 : 1 + len(others)]:
                return False
            if not in_drain:
                require_no_drain(self._table, at)
            self._limits.require_room(item, grant, ask, _read_grants(self._team, item).values())
        raise LimitReachedError(f"team {self._team}: too many runs begin at once; try again")

    def release(self, run_id: str, *, usd: float | None) -> bool:
        """Release a run's share, and count its cost.

        Args:
            run_id: The run.
            usd: The cost in US dollars; None if unknown, then the highest possible cost stays
                counted.

        Returns:
            False if the run holds nothing.
        """
        held = self.read_grants().get(run_id)
        if held is None:
            return False
        settled = 0 if usd is None else round(usd * MICRO) - held.usd_micro
        expression = (
            "REMOVE #grant ADD #runs :one_less, #clients :clients, #iops :iops, #usd :settled"
        )
        values: dict[str, object] = {
            ":one_less": -1,
            ":clients": -held.clients,
            ":iops": -held.iops,
            ":settled": settled,
        }
        update = self._build_update(
            expression, "attribute_exists(#grant)", run_id, held.month, values
        )
        for _ in range(ATTEMPTS):
            failed = write_transaction({"Update": update})
            if not any(failed) or failed == [CONDITION_FAILED]:
                return not any(failed)
        raise PlimsollError(f"team {self._team}: too many runs begin and end at once; try again")

    def read_grants(self) -> dict[str, Grant]:
        """Return what runs hold, by run id; unreadable entries are skipped."""
        return _read_grants(self._team, self._item())

    def read_counters(self) -> dict[str, int]:
        """Return the counters: runs, clients, iops, and millionths of a dollar by month."""
        return {
            name: int(value)
            for name, value in self._item().items()
            if not name.startswith(_GRANT) and name not in self._key
        }

    def _describe_taking(
        self, run_id: str, grant: Grant
    ) -> tuple[str, str, str, str, dict[str, object]]:
        conditions = ["attribute_not_exists(#grant)"]
        values: dict[str, object] = {
            ":grant": grant.model_dump(mode="json"),
            ":one": 1,
            ":clients": grant.clients,
            ":iops": grant.iops,
            ":usd": grant.usd_micro,
        }
        for _, counter, most, asked in self._limits.bounds(grant):
            short = "usd" if counter.startswith("usd") else counter
            values[f":{short}_room"] = most - asked
            conditions.append(f"(attribute_not_exists(#{short}) OR #{short} <= :{short}_room)")
        expression = "SET #grant = :grant ADD #runs :one, #clients :clients, #iops :iops, #usd :usd"
        return expression, " AND ".join(conditions), run_id, grant.month, values

    def _build_update(
        self, expression: str, condition: str, run_id: str, month: str, values: dict[str, object]
    ) -> "UpdateTypeDef":
        write = TypeSerializer().serialize
        return {
            "TableName": self._table,
            "Key": self._key,
            "UpdateExpression": expression,
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {
                "#grant": _GRANT + run_id,
                "#runs": "runs",
                "#clients": "clients",
                "#iops": "iops",
                "#usd": f"usd_{month}",
            },
            "ExpressionAttributeValues": {name: write(value) for name, value in values.items()},
        }

    def _item(self) -> dict[str, Any]:
        answer = clients.dynamodb().get_item(
            TableName=self._table, Key=self._key, ConsistentRead=True
        )
        return unpack_item(answer.get("Item", {}))


def _read_grants(team: str, item: Mapping[str, Any]) -> dict[str, Grant]:
    """Return the shares in a team's item, by run id; unreadable ones are skipped."""
    grants: dict[str, Grant] = {}
    for name, value in item.items():
        if name.startswith(_GRANT):
            what = f"{name} of team {team}"
            try:
                grants[name.removeprefix(_GRANT)] = read_item(
                    what, partial(Grant.model_validate, value)
                )
            except UnreadableRecordError as error:
                log_unreadable(error)
    return grants
