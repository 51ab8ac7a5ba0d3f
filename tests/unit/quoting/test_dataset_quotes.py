"""The quote of a dataset that is prepared once for many runs."""

from typing import Any

import pytest

from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.quote import ExperimentQuote
from plimsoll.quoting.experiment_quotes import quote_experiment
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.requests.cells import check_experiment
from plimsoll.requests.prepared_datasets import plan_shared_datasets
from tests.support.requested import quote_request
from tests.unit.quoting.test_quotes import TARGET

ASKED: dict[str, Any] = {
    "name": "matrix",
    "request": {
        "target": TARGET,
        "workload": {"records": 50_000_000},
        "search": {"strategy": "steps", "clients": [1, 2, 4]},
    },
    "axes": {"mix": {name: {"workload": {"name": f"ycsb-{name}"}} for name in "abcf"}},
}


def quoted(dataset: dict[str, Any] | None) -> ExperimentQuote:
    return quote_experiment(
        check_experiment(Experiment.model_validate({**ASKED, "dataset": dataset})),
        read_builtin_prices(),
    )


def phases(found: ExperimentQuote) -> dict[str, float]:
    return {phase.name: phase.expected_s for phase in found.cells[0].quote.phases}


def test_the_loading_is_charged_once() -> None:
    each, once = quoted(None), quoted({})
    assert each.usd is not None
    assert once.usd is not None
    assert [(one.name, one.runs) for one in once.datasets] == [("dataset-1", 4)]
    assert phases(once)["prepare"] < phases(each)["prepare"] / 2
    assert once.usd.expected < each.usd.expected


def test_the_sum_holds_the_runs_the_preparing_and_the_snapshot() -> None:
    found = quoted({})
    assert found.usd is not None
    parts = [cell.quote.usd for cell in found.cells]
    for dataset in found.datasets:
        parts += [dataset.quote.usd, dataset.snapshot.usd]
    for way in ("least", "expected", "most"):
        assert getattr(found.usd, way) == pytest.approx(sum(getattr(usd, way) for usd in parts))


def test_the_preparing_run_has_no_steps_and_ends_with_a_snapshot() -> None:
    (dataset,) = quoted({}).datasets
    names = [phase.name for phase in dataset.quote.phases]
    assert names == ["provision", "prepare", "snapshot", "teardown"]
    assert dataset.quote.steps.most == 0


def test_the_snapshot_costs_its_size_for_as_long_as_the_runs_take() -> None:
    found = quoted({})
    snapshot = found.datasets[0].snapshot
    runs_s = sum(cell.quote.time_s.expected for cell in found.cells)
    assert snapshot.price.unit == "GiB-month"
    assert snapshot.quantity.expected == pytest.approx(
        float(snapshot.what.split()[2].replace(",", "")) * runs_s / 3600 / 730, rel=0.02
    )


def test_the_time_is_the_preparing_and_then_the_runs() -> None:
    found = quoted({})
    (dataset,) = found.datasets
    runs_s = sum(cell.quote.time_s.expected for cell in found.cells)
    assert found.time_s.expected == pytest.approx(dataset.quote.time_s.expected + runs_s)


def test_it_says_how_many_datasets_are_prepared_and_that_blocks_come_late() -> None:
    notes = " ".join(quoted({}).notes)
    assert "1 dataset prepared once for 4 runs" in notes
    assert "fetches each block from S3 when it is first read" in notes
    assert "prepared once" not in " ".join(quoted(None).notes)


def test_a_users_own_snapshot_is_read_through_as_large_as_its_volume() -> None:
    snapshot = "arn:aws:rds:us-east-1:123456789012:snapshot:orders"
    experiment = Experiment.model_validate(ASKED)
    target = {**TARGET, "snapshot": snapshot}
    (shared,) = plan_shared_datasets(
        check_experiment(experiment.model_copy(update={"dataset": {}})), local=False
    )
    own = shared.request.model_copy(
        update={"target": type(shared.request.target).model_validate(target)}
    )
    prepare = next(phase for phase in quote_request(own).phases if phase.name == "prepare")
    assert f"restored; {TARGET['volume']['size_gib']:,} GiB are read once" in prepare.assumption
