"""Loading one part of the dataset."""

import json
from collections.abc import Mapping
from typing import Any

import plimsoll_engine
from plimsoll.aws.run_records import deadline_passed, now, require_loading_budget
from plimsoll.model.function_settings import ReachSettings
from plimsoll.requests.request_workload import prepared_tables
from plimsoll.runs.dataset_there import is_restored, read_through
from plimsoll.runs.prepare_dataset import running
from plimsoll.targets.connection import engine_target, load_target


def load_part(settings: ReachSettings, run_id: str, part: Mapping[str, Any]) -> dict[str, object]:
    """Load one part of the dataset. Rows that are there already stay: a repetition completes.

    A part of a restored one is read through instead; what is left of it is for another call.

    Raises:
        TimeLimitPassedError: The run's time is up; some rows may be loaded.
        BudgetPassedError: The run's budget is spent; some rows may be loaded.
        EngineError: A statement failed however often it was tried.
    """
    record, request = running(settings, run_id)
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    table = prepared_tables(request)[part["table"]]
    if is_restored(record, request):
        rest = read_through(engine_target(settings, record.target), table, part)
        return {"rows": 0} if rest is None else {"rows": 0, "rest": rest}
    spec = table.dataset_spec(
        load_target(settings, record.target, run_id),
        share=part["share"],
        shares=part["shares"],
        connections=request.prepare.connections_per_client,
        load_order=request.prepare.load_order,
        seed=request.load.seed,
    )

    def stop_in_time(_rows: int) -> None:
        if record.expires_at is not None and now() >= record.expires_at:
            raise deadline_passed(record, "passed while rows were loaded")
        require_loading_budget(record, now())

    answer = json.loads(plimsoll_engine.load_rows(spec.model_dump_json(), stop_in_time))
    return {"rows": answer["rows_sent"]}
