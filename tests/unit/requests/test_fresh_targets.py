"""Cells that are repeated on fresh targets: which runs, in which order, and what is refused."""

from typing import Any

import pytest
import yaml

from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.request.experiment import draw_order, shuffle_cells
from plimsoll.quoting.experiment_quotes import quote_experiment
from plimsoll.quoting.prices import override_prices
from plimsoll.requests.cells import CheckedExperiment, validate_experiment
from plimsoll.requests.prepared_datasets import plan_shared_datasets
from tests.unit.requests.test_cells import GOOD


def repeat_cells(fresh: int | None = 3, **changes: Any) -> CheckedExperiment:
    """Two volumes by two mixes, each three times unless told otherwise."""
    value = yaml.safe_load(GOOD)
    if fresh is not None:
        value["repeat"] = {"fresh": fresh}
    return validate_experiment({**value, **changes})


def test_each_cell_is_a_run_on_each_fresh_target() -> None:
    cells = repeat_cells().cells
    assert [cell.index for cell in cells] == list(range(12))
    assert [cell.name for cell in cells[:4]] == [
        "slow-reads-r1", "slow-reads-r2", "slow-reads-r3", "slow-both-r1"
    ]  # fmt: skip
    assert [cell.fresh_target for cell in cells] == [1, 2, 3] * 4
    assert cells[1].request.name == "slow-reads-r2"
    assert cells[1].request.tags == {
        "experiment": "matrix", "storage": "slow", "mix": "reads", "fresh_target": "2"
    }  # fmt: skip
    own = {"name", "tags"}
    assert cells[0].request.model_dump(exclude=own) == cells[2].request.model_dump(exclude=own)


def test_an_experiment_without_repeat_is_as_before() -> None:
    checked = repeat_cells(None)
    assert [cell.name for cell in checked.cells] == [
        "slow-reads", "slow-both", "fast-reads", "fast-both"
    ]  # fmt: skip
    assert {cell.fresh_target for cell in checked.cells} == {None}
    assert all("fresh_target" not in cell.request.tags for cell in checked.cells)
    assert draw_order(checked.experiment, 7) == shuffle_cells(4, 7)


def test_runs_start_in_rounds_each_in_an_order_of_its_own() -> None:
    checked = repeat_cells(20)
    drawn = draw_order(checked.experiment, 7)
    assert sorted(drawn) == list(range(80))
    rounds = [drawn[start : start + 4] for start in range(0, 80, 4)]
    for number, one in enumerate(rounds, 1):
        assert {checked.cells[index].fresh_target for index in one} == {number}
    orders = {tuple(checked.cells[i].name.rsplit("-r", 1)[0] for i in one) for one in rounds}
    assert len(orders) > 10  # of 24


def test_the_quote_counts_every_run() -> None:
    prices = override_prices(PriceOverrides())
    once, thrice = (quote_experiment(repeat_cells(fresh), prices) for fresh in (None, 3))
    assert len(thrice.cells) == 3 * len(once.cells)
    assert once.usd is not None
    assert thrice.usd is not None
    assert thrice.usd.expected == pytest.approx(3 * once.usd.expected)


def test_runs_on_fresh_targets_share_a_dataset() -> None:
    """Restored anew for each: a fresh target of the same data."""
    (shared,) = plan_shared_datasets(repeat_cells(dataset={}), local=True)
    assert shared.cells == tuple(range(12))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"repeat": {"fresh": 1}}, r"repeat.fresh: "),
        ({"repeat": {"fresh": 21}}, r"repeat.fresh: "),
        (
            {"pairs": {"axis": "storage", "of": ["slow", "fast"]}},
            "repeat: cannot go with pairs",
        ),
        (
            {"search": "boundary", "want": {"ops_per_second": 1}, "at_once": 1, "batch_size": None},
            "repeat: cannot go with search: boundary",
        ),
    ],
)
def test_what_cannot_be_repeated_is_refused_by_name(
    changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        repeat_cells(**changes)


def test_an_existing_database_is_never_fresh() -> None:
    value = yaml.safe_load(GOOD)
    endpoint = {"kind": "endpoint", "engine": "mariadb", "host": "127.0.0.1", "port": 3306}
    value["request"]["target"] = endpoint
    axes = {"mix": {"reads": {"workload": {"name": "ycsb-c"}}}}
    with pytest.raises(UsageError, match="repeat: needs targets that are created"):
        validate_experiment({**value, "axes": axes, "repeat": {"fresh": 2}})


def test_two_hundred_runs_are_the_most_with_every_repetition() -> None:
    value = yaml.safe_load(GOOD)
    axes = {"seed": {f"s{n}": {"load": {"seed": n}} for n in range(11)}}
    value["request"]["target"]["volume"]["iops"] = 1000
    value["request"]["workload"]["name"] = "ycsb-c"
    with pytest.raises(UsageError, match="axes: 11 x 20 = 220 runs are more than 200"):
        validate_experiment({**value, "axes": axes, "repeat": {"fresh": 20}})


def test_a_name_that_is_too_long_with_its_number_is_named_whole() -> None:
    value = yaml.safe_load(GOOD)
    axes = {"mix": {"r" * 38: {"workload": {"name": "ycsb-c"}}}}
    value["request"]["target"]["volume"]["iops"] = 1000
    with pytest.raises(UsageError, match=f"make the run '{'r' * 38}-r1': "):
        validate_experiment({**value, "axes": axes, "repeat": {"fresh": 2}})
