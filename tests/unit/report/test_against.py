"""Runs over published figures: shapes, knees and ratios, never one absolute figure on another."""

from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.judging.closing import PairedRatio
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.toggle import StateFigures, ToggleResult
from plimsoll.model.run.results import RunResult
from plimsoll.report.published import compare_with_published, make_shape_table, read_reference
from tests.support.synthetic_run import synthetic_run
from tests.unit.report.experiment.test_experiment_summary import at_one_load

REFERENCE = Path(__file__).parents[3] / "reference"
R1, R2, R4 = (read_reference(REFERENCE / f"{name}.csv") for name in ("r1", "r2", "r4"))
SLOW, FAST = (
    synthetic_run(knee=knee, iops=iops, run_id=run_id, seed=seed)[0]
    for run_id, knee, iops, seed in (("slow", 3.2, 1000, 5), ("fast", 6.3, 2000, 6))
)


def test_the_files_hold_what_was_published_and_what_is_doubtful() -> None:
    low, high = R1.curves
    assert [step.clients for step in low.steps] == [1, 2, 3, 4, 8]
    assert [step.clients for curve in (low, high) for step in curve.steps if step.knee] == [3, 8]
    for curve in R1.curves:
        for step in curve.steps:
            busy = step.throughput_ops_per_second * sum(step.latency_us.values()) / 2 / 1e6
            fits = busy <= 1.07 * step.clients  # one connection each, half reads, half updates
            assert fits is not bool(step.doubt), (curve.iops, step.clients, busy)
    assert len(R2.ratios) == 6
    assert R2.ratios[1].where == {"mix": ("reads-80",), "threads": ("t250", "t32")}


def test_shapes_are_multiples_of_the_lightest_load() -> None:
    found = compare_with_published(R1, [FAST, SLOW], ["fast", "slow"])
    slow, fast = found.shapes
    assert (slow.published, slow.measured, fast.measured) == ("1,000 IOPS", "slow", "fast")
    assert slow.multiples["throughput"][0] == (1.0, 1.0)
    assert slow.multiples["throughput"][3][0] == pytest.approx(2900 / 2300)
    assert slow.multiples["update"][3][0] == pytest.approx(2100 / 420)
    (cells, *_) = make_shape_table(slow).rows
    assert [cell.text for cell in cells][:3] == ["1", "1.00", "1.00"]
    absolute = ("5,600", "5600", "12,960", "2,300")
    assert not [s for s in found.sentences for figure in absolute if figure in s]


def test_knees_and_the_step_from_one_to_the_other_are_said() -> None:
    knee_low, knee_high, step_up = compare_with_published(
        R1, [SLOW, FAST], ["slow", "fast"]
    ).sentences
    assert knee_low.startswith(
        "Knee with 1,000 IOPS: published at 3 clients, 2.43 times the throughput of the first load;"
        " measured (slow) at 3 clients, "
    )
    assert "published at 8 clients, 5.63 times" in knee_high
    assert step_up.startswith(
        "From 1,000 to 2,000 IOPS: published 2.31 times (doubtful), measured 1"
    )
    assert "(95 % " in step_up


def test_runs_of_other_iops_are_laid_over_the_curves_in_their_order() -> None:
    assert isinstance(SLOW.request.target, RdsTarget)
    volume = SLOW.request.target.volume.model_copy(update={"iops": 4000})
    target = SLOW.request.target.model_copy(update={"volume": volume})
    other = SLOW.model_copy(update={"request": SLOW.request.model_copy(update={"target": target})})
    assert compare_with_published(R1, [other], ["demo"]).shapes[0].published == "1,000 IOPS"


def test_ratios_find_their_runs_by_the_variants_names() -> None:
    def cell(storage: str, throughput: float, threads: str = "t8") -> RunResult:
        tags = {"experiment": "e", "storage": storage, "mix": "reads-80", "threads": threads}
        request = SLOW.request.model_copy(update={"tags": tags})
        update = {"request": request, "capacity": at_one_load(throughput), "run_id": storage}
        return SLOW.model_copy(update=update)

    runs = [cell("gp2", 100), cell("nvme", 600), cell("nvme", 650, "t32")]
    found = compare_with_published(R2, runs, ["a", "b", "c"])
    assert len(found.sentences) == 1
    assert found.sentences[0].startswith(
        "reads-80, t8: nvme to gp2: published 20.00 times, measured 6.00 times (95 % 5."
    )
    with pytest.raises(UsageError, match="no two of the runs are of variants"):
        compare_with_published(R2, runs[1:], ["b", "c"])


def toggled(workload: str, ratio: float) -> RunResult:
    """A run whose toggle has gained so much."""
    states = tuple(
        StateFigures(
            name=name,
            parameters={},
            server_says={},
            throughput_ops_per_second=None,
            errors_share=None,
        )
        for name in ("without", "with")
    )
    toggle = ToggleResult(
        states=(states[0], states[1]),
        axis="clients",
        load=2,
        statistic="p99",
        throughput=PairedRatio(ratio=ratio, low=0.9 * ratio, high=1.1 * ratio, pairs=4),
        latency={},
        steps=(),
        left_out=0,
        pairs_asked=4,
        method="",
        detail="",
    )
    named = SLOW.request.workload.model_copy(update={"name": workload})
    request = SLOW.request.model_copy(update={"workload": named})
    return SLOW.model_copy(update={"request": request, "toggle": toggle})


@pytest.mark.parametrize(
    ("workload", "ratio", "judged"),
    [
        ("sysbench-oltp-read-write", 1.70, "in the published range"),
        ("sysbench-oltp-read-only", 3.00, "1.67 times off the published range: in kind"),
        ("sysbench-oltp-write-only", 29.0, "21.80 times off the published range: not in kind"),
        ("sysbench-oltp-write-only", 0.90, "of the other sign"),
    ],
)
def test_gains_are_judged_in_kind(workload: str, ratio: float, judged: str) -> None:
    (sentence,) = compare_with_published(R4, [toggled(workload, ratio)], ["a"]).sentences
    assert sentence.startswith(f"{workload}, with to without: published ")
    assert "(4 cores)" in sentence
    assert sentence.endswith(f"; {judged}.")


def test_the_order_of_the_gains_is_said() -> None:
    gains = {"read-only": 1.5, "write-only": 1.2, "read-write": 1.9}
    runs = [toggled(f"sysbench-oltp-{mix}", ratio) for mix, ratio in gains.items()]
    *_, order = compare_with_published(R4, runs, ["a", "b", "c"]).sentences
    assert order == (
        "Gains from the largest: sysbench-oltp-read-write, sysbench-oltp-read-only,"
        " sysbench-oltp-write-only, as in the largest published ones."
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b\n1,2\n", "its columns must have"),
        ("# title: x\nof,to,ratio,bound,doubt\na,b,many,=,\n", r"f.csv:3: could not convert"),
        ("of,to,ratio,bound,doubt\na,b,2,about,\n", r"f.csv:2: bound: Input should be"),
        ("of,to,ratio,bound,doubt\na,b,inf,=,\n", r"f.csv:2: ratio: Input should be a finite"),
        ("x" * 200_000 + "\n", r"f.csv: field larger than field limit"),
        (f"of,to,ratio,bound,doubt\na,b,2,=,{'x' * 200_000}\n", r"f.csv: field larger than"),
        ("# statistic: worst\nof,to,ratio,bound,doubt\na,b,2,=,\n", r"f.csv: statistic: Input"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_line(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = tmp_path / "f.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=complaint):
        read_reference(path)


def test_what_a_file_says_controls_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("# title: \x1b[2J\n# doubt: \x9b\nof,to,ratio,bound,doubt\na\x07,b,2,=,\x1b\n")
    read = read_reference(path)
    assert (read.title, read.doubts) == ("\\x1b[2J", ("\\x9b",))
    assert (read.ratios[0].of, read.ratios[0].doubt) == (("a\\x07",), "\\x1b")


def test_more_runs_than_curves_are_refused() -> None:
    with pytest.raises(UsageError, match="3 runs for 2 published curves"):
        compare_with_published(R1, [SLOW, FAST, SLOW], ["a", "b", "c"])
