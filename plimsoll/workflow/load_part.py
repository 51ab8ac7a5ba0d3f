"""Loads one part of a dataset: the one state of the preparation that needs the engine."""

import json
from collections.abc import Mapping
from typing import Any

import plimsoll_engine
from plimsoll.aws.run_records import build_deadline_error, now, require_loading_budget
from plimsoll.model.deployment.function_settings import (
    ReachSettings,
)
from plimsoll.targets.connection import connect_as_load_user, connect_as_master
from plimsoll.workflow.dataset import read_running
from plimsoll.workflow.dataset_there import (
    is_restored,
    read_through,
)


def load_part(settings: ReachSettings, run_id: str, part: Mapping[str, Any]) -> dict[str, object]:
    """Load one part of the dataset; rows that are present stay, so a repeated call completes it.

    If the dataset was restored from a snapshot, the part is read instead; `rest` is what another
    call has to read.

    Raises:
        TimeLimitPassedError: The run's time is up; some rows may be loaded.
        BudgetPassedError: The run's budget is spent; some rows may be loaded.
        EngineError: A statement failed on every retry.
    """
    record, checked = read_running(settings, run_id)
    request = checked.request
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    table = checked.tables[part["table"]]
    if is_restored(record, request):
        rest = read_through(connect_as_master(settings, record.target), table, part)
        return {"rows": 0} if rest is None else {"rows": 0, "rest": rest}
    spec = table.dataset_spec(
        connect_as_load_user(settings, record.target, run_id),
        share=part["share"],
        shares=part["shares"],
        connections=request.prepare.connections_per_client,
        load_order=request.prepare.load_order,
        seed=request.load.seed,
    )

    def stop_in_time(_rows: int) -> None:
        if record.expires_at is not None and now() >= record.expires_at:
            raise build_deadline_error(record, "passed while rows were loaded")
        require_loading_budget(record, now())

    answer = json.loads(plimsoll_engine.load_rows(spec.model_dump_json(), stop_in_time))
    return {"rows": answer["rows_sent"]}
