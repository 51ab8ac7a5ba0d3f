"""Demand today: rates, what an operation takes, and where production stands of its line."""

import pytest

from plimsoll.databases.counted_statements import Counted
from plimsoll.errors import UsageError
from plimsoll.model.request.load_request import WorkloadChoice
from plimsoll.model.run.results import RunResult
from plimsoll.sizing.production import Spread, compare_with_line
from plimsoll.workload.derive.derived import derive
from tests.support.synthetic_run import synthetic_run
from tests.unit.sizing.samples import DERIVED, observed, sample
from tests.unit.workload.derive.digests import digest, seen


def test_rates_are_means_over_the_samples_with_the_busiest() -> None:
    rates = observed(sample(30_000), sample(70_000)).rates
    assert rates.statements == Spread(mean=10_000, p50=6_000, p95=14_000, peak=14_000, samples=2)
    assert rates.operations == rates.statements
    assert rates.log_flushes is not None
    assert rates.log_flushes.mean == 90


def test_counters_that_were_read_late_are_of_their_own_time() -> None:
    rates = observed(sample(50_000, counted_s=7.5)).rates
    assert rates.statements is not None
    assert rates.log_flushes is not None
    assert (rates.statements.mean, rates.log_flushes.mean) == (10_000, 60)


def test_an_operation_takes_what_was_done_by_the_operations() -> None:
    demand = observed(sample(50_000), sample(50_000)).demand
    assert demand is not None
    assert demand.ops_per_second == 10_000
    assert demand.ios == pytest.approx(0.05)
    assert demand.read_ios == pytest.approx(0.04)
    assert demand.mib == pytest.approx(0.0008)
    assert demand.log_flushes == pytest.approx(0.009)
    assert demand.lock_wait_s == pytest.approx(0.00001)
    assert demand.cpu_s is None


def test_what_a_server_does_not_tell_is_not_known() -> None:
    found = observed(sample(50_000, iops=None), sample(50_000, iops=None))
    assert found.rates.iops is None
    assert found.demand is not None
    assert found.demand.ios is None
    assert "for a part of the time the server's I/O is not known" in found.notes


def run(**changes: object) -> RunResult:
    result, _ = synthetic_run()
    definition = {**DERIVED.document, **changes}
    choice = WorkloadChoice(definition=definition, records=4950)
    request = result.request.model_copy(update={"workload": choice})
    return result.model_copy(update={"request": request})


def test_production_stands_at_a_share_of_its_line() -> None:
    result = run()
    assert result.capacity
    line = result.capacity.max_sustainable_throughput_ops_per_second
    assert line
    found = compare_with_line(observed(sample(40_000), sample(60_000)), result)
    assert found.mean_share == pytest.approx(10_000 / line)
    assert found.peak_share == pytest.approx(12_000 / line)


def test_a_changed_mix_is_said() -> None:
    operations = {name: dict(one) for name, one in DERIVED.document["operations"].items()}
    operations["select_usertable_by_ycsb_key"]["weight"] = 50
    operations["update_usertable_by_ycsb_key"]["weight"] = 50
    found = compare_with_line(observed(sample(1000), sample(1000)), run(operations=operations))
    assert any("is 5 % of the operations now, and was 50 %" in told for told in found.caveats)


def test_operations_that_the_run_lacks_are_not_counted() -> None:
    operations = dict(list(DERIVED.document["operations"].items())[:1])
    result = run(operations=operations)
    assert result.capacity
    line = result.capacity.max_sustainable_throughput_ops_per_second
    assert line
    found = compare_with_line(observed(sample(50_000), sample(50_000)), result)
    assert found.mean_share == pytest.approx(9_500 / line)
    assert any("5 % of the observed operations are not in" in told for told in found.caveats)


def test_operations_are_known_by_their_statements_whatever_their_names() -> None:
    operations = {f"{name}_2": one for name, one in DERIVED.document["operations"].items()}
    found = compare_with_line(observed(sample(40_000), sample(60_000)), run(operations=operations))
    assert not any("are not in" in told for told in found.caveats)


def test_a_list_of_another_length_is_the_same_operation() -> None:
    one = {"weight": 1, "statements": [{"sql": "SELECT c FROM t WHERE id IN (?, ?, ?)"}]}
    listed = observed(sample(1000), sample(1000))
    (first, *_) = listed.operations
    longer = first.model_copy(
        update={"share": 1.0, "statements": ("SELECT c FROM t WHERE id IN (?, ?)",)}
    )
    asked = listed.model_copy(update={"operations": (longer,)})
    assert compare_with_line(asked, run(operations={"reads": one})).mean_share > 0


def test_a_run_of_another_workload_is_refused() -> None:
    other = derive(seen(digest("SELECT `c` FROM `sbtest1` WHERE `id` = ?")))
    with pytest.raises(UsageError, match="is of another workload: 0 % of the observed operations"):
        compare_with_line(
            observed(sample(1000), sample(1000)), run(operations=other.document["operations"])
        )


def test_samples_that_are_not_known_are_in_no_figure() -> None:
    assert Spread.of([None, 2.0, 4.0]) == Spread(mean=3, p50=2, p95=4, peak=4, samples=2)
    assert Spread.of([None]) is None


def test_counts_that_fell_began_again_or_were_closed() -> None:
    before, after = Counted(100, 50, 5, 5, 5), Counted(40, 20, 2, 2, 2)
    assert after.since(before) == after
    closing = Counted(40, 20, 2, 2, 2, closes=True)
    assert closing.since(before).calls == 0
    assert Counted(150, 60, 9, 9, None).since(before) == Counted(50, 10, 4, 4, None)
