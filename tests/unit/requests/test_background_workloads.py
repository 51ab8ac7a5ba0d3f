"""A background's workload is checked against the request's own, and its tables are prepared."""

from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.request.request import Request
from plimsoll.requests.checked_request import validate_request
from tests.support.requested import REQUESTED

SYSBENCH = {"name": "sysbench-oltp-read-only", "records": 5000, "parameters": {"tables": 2}}
BACKUP: dict[str, Any] = {
    "name": "backup",
    "workload": {"name": "sysbench-full-scan", "records": 5000, "parameters": {"tables": 2}},
    "tables": "same",
}
SCAN = {"name": "nightly", "workload": {"name": "batch-full-scan", "records": 5000}}
FLUSHES = {"name": "commits", "workload": {"name": "log-flush", "records": 5000}}
CLASHING = {
    "name": "clashing",
    "about": "another table of that name",
    "tables": {
        "usertable": {
            "rows": 10,
            "primary_key": ["id"],
            "columns": {"id": {"type": "bigint", "value": "row"}},
        }
    },
    "operations": {"read": {"weight": 1, "statements": [{"sql": "SELECT * FROM {usertable}"}]}},
}
CASSANDRA = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "io1", "size_gib": 100, "iops": 1000},
}


def requested(*backgrounds: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**REQUESTED, "background": list(backgrounds), **changes}


def test_own_tables_are_prepared_beside_the_others_and_once() -> None:
    asked = validate_request(requested(SCAN, FLUSHES))
    assert [workload.dataset for workload in asked.datasets] == ["ycsb", "batch"]
    names = [table.name for table in asked.tables]
    assert names == ["usertable", "batch_record", "batch_log"]


def test_the_same_tables_are_prepared_once() -> None:
    asked = validate_request(requested(BACKUP, workload=SYSBENCH))
    assert [table.name for table in asked.tables] == ["sbtest1", "sbtest2"]


WRONG: list[tuple[dict[str, Any], tuple[str | int, ...], str]] = [
    (requested({**SCAN, "tables": "same"}), (0, "tables"), "choose `own`"),
    (
        requested({**BACKUP, "tables": "own"}, workload=SYSBENCH),
        (0, "tables"),
        "choose `same`",
    ),
    (
        requested(
            {**BACKUP, "workload": {**BACKUP["workload"], "records": 4000}}, workload=SYSBENCH
        ),
        (0, "workload", "records"),
        "5,000 already",
    ),
    (
        requested(
            {**BACKUP, "workload": {"name": "sysbench-full-scan", "records": 5000}},
            workload=SYSBENCH,
        ),
        (0, "workload", "parameters", "tables"),
        "is made with 2 already",
    ),
    (
        requested(SCAN, {**FLUSHES, "workload": {"name": "log-flush", "records": 9}}),
        (1, "workload", "records"),
        "the dataset batch has 5,000 already",
    ),
    (
        requested({**SCAN, "workload": {"name": "nothing", "records": 1}}),
        (0, "workload", "name"),
        "batch-full-scan",
    ),
    (requested(SCAN, target=CASSANDRA), (0, "workload"), "no CQL statements"),
    (
        requested({"name": "own", "workload": {"definition": CLASHING, "records": 1000}}),
        (0, "workload"),
        "its table usertable is there already, from the dataset ycsb",
    ),
]


@pytest.mark.parametrize(("value", "path", "problem"), WRONG)
def test_what_cannot_be_is_refused_by_its_field(
    value: dict[str, Any], path: tuple[str | int, ...], problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        validate_request(value)
    (complaint,) = refused.value.complaints
    assert complaint.path == ("background", *path)
    assert problem in str(complaint)


def on_credits(value: object, **volume: object) -> dict[str, Any]:
    target = REQUESTED["target"]
    return {
        **REQUESTED,
        "target": {
            **target,
            "volume": {"type": "gp2", "size_gib": 100, "credits_start": value, **volume},
        },
    }


@pytest.mark.parametrize(("value", "share"), [("empty", 0.0), (0.25, 0.25), (1, 1.0)])
def test_credits_at_the_start_are_a_share_of_a_full_bucket(value: object, share: float) -> None:
    assert validate_request(on_credits(value)).request.credits_start_share == share
    assert Request.model_validate(REQUESTED).credits_start_share is None


@pytest.mark.parametrize(
    "value",
    [
        on_credits(1.5),
        on_credits("full"),
        on_credits(0.5, size_gib=5000),
        on_credits(0.5, type="gp3"),
    ],
)
def test_credits_that_a_volume_does_not_have_are_refused(value: dict[str, Any]) -> None:
    """From 4,000 GiB on each of RDS's four stripes has its burst as its baseline."""
    with pytest.raises(UsageError) as refused:
        validate_request(value)
    assert all("credits_start" in about.path for about in refused.value.complaints)


def test_only_one_machine_can_set_credits() -> None:
    asked = validate_request(on_credits("empty")).request
    with pytest.raises(UsageError, match="AWS gives a new volume full credits") as refused:
        asked.require_nothing_of_one_machine("a run on one machine (--local)")
    assert refused.value.complaints[0].path == ("target", "volume", "credits_start")
