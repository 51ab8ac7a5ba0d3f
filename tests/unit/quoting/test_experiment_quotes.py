"""Quotes of experiments: the sum of their runs' money, and the time of so many at once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.model.request.experiment import Experiment, shuffle_cells
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import ExperimentQuote
from plimsoll.quoting.experiment_quotes import quote_experiment, schedule_length_s
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.requests.cells import check_experiment, validate_experiment
from tests.support.requested import quote_request
from tests.support.synthetic_cells import boundary_experiment
from tests.unit.quoting.test_quotes import TARGET

SHARED: dict[str, Any] = {
    "target": TARGET,
    "workload": {"name": "ycsb-b"},
    "search": {"strategy": "steps", "clients": [1, 2, 4]},
}
# so different that each run takes another time
RECORDS = {"few": 200_000, "some": 20_000_000, "many": 40_000_000}


def experiment(**changes: Any) -> Experiment:
    rows = {name: {"workload": {"records": records}} for name, records in RECORDS.items()}
    asked = {"name": "matrix", "request": SHARED, "axes": {"rows": rows}, "seed": 3}
    return Experiment.model_validate(asked | changes)


def quoted(**changes: Any) -> ExperimentQuote:
    return quote_experiment(check_experiment(experiment(**changes)), read_builtin_prices())


def test_each_run_has_the_quote_that_it_has_alone() -> None:
    found = quoted()
    assert [cell.variants for cell in found.cells] == [{"rows": name} for name in RECORDS]
    for cell, records in zip(found.cells, RECORDS.values(), strict=True):
        workload = {"name": "ycsb-b", "records": records}
        alone = Request.model_validate(SHARED | {"name": "alone", "workload": workload})
        assert cell.quote == quote_request(alone)


def test_the_money_is_the_sum_whatever_goes_at_once() -> None:
    for at_once in (1, 2, 3):
        found = quoted(at_once=at_once)
        assert found.usd is not None
        for way in ("least", "expected", "most"):
            parts = [getattr(cell.quote.usd, way) for cell in found.cells]
            assert getattr(found.usd, way) == pytest.approx(sum(parts))


def test_the_time_is_that_of_so_many_at_once_in_the_order_of_the_seed() -> None:
    each = [cell.quote.time_s.expected for cell in quoted().cells]
    few, some, many = each
    assert few < some < many
    assert quoted().time_s.expected == pytest.approx(few + some + many)
    assert quoted(at_once=3).time_s.expected == many
    first, second, third = (each[index] for index in shuffle_cells(3, 3))
    assert quoted(at_once=2).time_s.expected == pytest.approx(
        max(first, second, min(first, second) + third)
    )


def test_a_batch_begins_when_the_one_before_it_has_ended() -> None:
    found = quoted(at_once=3, batch_size=2)
    each = [found.cells[index].quote.time_s.expected for index in shuffle_cells(3, 3)]
    assert found.batches == 2
    assert found.time_s.expected == pytest.approx(max(each[:2]) + each[2])


def test_no_more_go_at_once_than_the_team_may_have() -> None:
    held = quote_experiment(
        check_experiment(experiment(at_once=3)), read_builtin_prices(), runs_most=1
    )
    assert held.at_once == 1
    assert held.time_s == quoted(at_once=1).time_s
    assert "Runs at the same time: 1, not 3, since the team may have no more." in held.notes


def test_one_price_that_is_missing_leaves_no_sum_and_is_named_once() -> None:
    classes = {
        f"as-{name}": {"target": {"instance_class": f"db.{name}.large"}} for name in ("m8g", "m5")
    }
    shared = SHARED | {"workload": {"name": "ycsb-b", "records": 1000}}
    loads = {f"l{n}": {"load": {"seed": n}} for n in (1, 2)}
    found = quoted(request=shared, axes={"class": classes, "load": loads})
    assert found.usd is None
    assert found.missing == ("rds-mariadb db.m8g.large",)
    assert [cell.quote.usd is None for cell in found.cells] == [True, True, False, False]


def test_budgets_are_each_runs_own_and_told_together() -> None:
    found = quoted(request=SHARED | {"budget_usd": 2.5})
    assert found.notes[0] == ("Each run has its own budget_usd; those of all runs add up to $7.50.")


def test_of_a_search_for_the_boundary_it_is_that_of_all_cells() -> None:
    checked = validate_experiment(boundary_experiment(1000, 2000, 3000, want=20_000))
    found = quote_experiment(checked, read_builtin_prices())
    assert found.time_s.most == pytest.approx(sum(cell.quote.time_s.most for cell in found.cells))
    assert any("runs only those near it" in note for note in found.notes)


def test_what_cannot_be_is_refused_by_its_place() -> None:
    with pytest.raises(UsageError, match=r"axes\.rows\.none\.workload\.records: "):
        quoted(axes={"rows": {"none": {"workload": {"records": 0}}}})


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=30),
    st.integers(1, 40),
)
def test_many_at_once_take_no_longer_than_one_by_one_and_no_less_than_the_longest(
    seconds: list[float], at_once: int
) -> None:
    taken = schedule_length_s(seconds, at_once)
    least = max(*seconds, sum(seconds) / at_once)
    assert least * (1 - 1e-9) <= taken <= sum(seconds) * (1 + 1e-9)
    assert taken <= least + max(seconds)  # Graham's bound
