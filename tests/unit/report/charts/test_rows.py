"""What the charts of loads draw is what was judged, and nothing else."""

from plimsoll.capacity.credits import judge_sustained
from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import Step
from plimsoll.report.charts import rows
from tests.unit.capacity.samples import gp2, step

# reference experiment R1 at 1000 provisioned IOPS: clients, ops/s, update and read means in us
R1 = [(1, 2300, 420, 400), (2, 4000, 480, 470), (3, 5600, 560, 510), (4, 2900, 2100, 550)]


def r1() -> Capacity:
    steps = [
        Step(
            index=number,
            clients=clients,
            connections=clients,
            throughput_ops_per_second=throughput,
            latency_us={"update": {"mean": update}, "read": {"mean": read}},
            shares={"read": 0.5, "update": 0.5},
        )
        for number, (clients, throughput, update, read) in enumerate(R1, 1)
    ]
    return judge(steps, Rules(statistic="mean", confirmation=None))


def test_the_curve_has_a_point_for_each_load_and_operation() -> None:
    found = rows.list_curve_rows(r1())
    drawn = {
        (row["load"], row["operation"]): (row["throughput"], row["latency_us"]) for row in found
    }
    assert drawn == {
        **{(c, "update"): (x, update) for c, x, update, _ in R1},
        **{(c, "read"): (x, read) for c, x, _, read in R1},
    }


def test_outcomes_and_the_bracket_are_those_of_the_verdict() -> None:
    by_load = {row["load"]: row for row in rows.list_curve_rows(r1())}
    outcomes = {load: row["outcome"] for load, row in by_load.items()}
    assert outcomes == {1: "passed", 2: "passed", 3: "passed", 4: "failed"}
    assert [load for load, row in by_load.items() if row["in_bracket"]] == [3, 4]
    assert "2.10 ms" in by_load[4]["why"]


def test_limits_are_three_times_the_lightest_step() -> None:
    limits = {row["operation"]: row["limit_us"] for row in rows.make_limit_rows(r1())}
    assert limits == {"update": 1260, "read": 1200}


def test_a_statistic_that_was_not_measured_is_not_drawn() -> None:
    assert {row["statistic"] for row in rows.list_latency_rows(r1())} == {"mean"}


def test_single_steps_are_no_repetitions() -> None:
    assert rows.list_repetition_rows(r1()) == []


def test_a_law_that_does_not_fit_is_not_drawn() -> None:
    assert rows.list_usl_rows(r1()) == []


def test_of_one_load_what_lasts_comes_before_what_credits_paid_for() -> None:
    burst, lasts = step(2, 3000, **gp2(3000, 50)), step(2, 300, **gp2(300, 0))
    capacity = judge_sustained([burst, lasts], Rules(limits_us={"update": 300}, confirmation=None))
    assert len(capacity.steps) == 2
    assert rows.index_by_load(capacity)[2].throughput_ops_per_second == 300
    assert rows.find_capacity_load(capacity) is rows.index_by_load(capacity)[2]
