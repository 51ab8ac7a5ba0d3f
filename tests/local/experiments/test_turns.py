"""Two runs on one machine that take turns: their steps alternate, and their ratio is of pairs."""

from itertools import pairwise
from pathlib import Path

import pytest

from plimsoll.local.experiment_runner import LocalExperiment
from plimsoll.local.twin import LocalTwin
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.results import RunResult
from plimsoll.report.comparing.ratios import pair_steps
from plimsoll.requests.cells import check_experiment
from tests.local.experiments.test_experiment import assert_nothing_left, most_at_once
from tests.local.workflow.conftest import tiny

SLOW, FAST = ({"type": "io1", "size_gib": 100, "iops": iops} for iops in (1000, 4000))


def two_volumes() -> Experiment:
    shared = tiny("cell", load__warmup_s=0.5, load__duration_s=2).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    del shared["target"]["volume"]
    shared["search"] = {"strategy": "steps", "clients": [1], "open_loop_probe": False}
    shared["limits"] |= {"audits_off": ["drift", "steady_state", "undisturbed"], "cv_max": 0.5}
    axes = {"storage": {"slow": {"target": {"volume": SLOW}}, "fast": {"target": {"volume": FAST}}}}
    pairs = {"axis": "storage", "of": ["slow", "fast"], "count": 3}
    value = {"name": "turns", "request": shared, "axes": axes, "pairs": pairs, "seed": 1}
    return Experiment.model_validate(value)


@pytest.mark.whole  # `make test` has the pairs of a toggle
def test_steps_of_both_alternate_and_make_pairs(
    run_twin: LocalTwin,
    tmp_path: Path,
) -> None:
    running = LocalExperiment(run_twin, check_experiment(two_volumes()))
    assert running.wait().record.failure is None
    result = running.save(tmp_path)
    runs = [
        RunResult.model_validate_json((tmp_path / cell.name / "result.json").read_bytes())
        for cell in result.cells
    ]
    assert most_at_once([run.moments for run in runs]) == 2
    spans = sorted(
        (done.plan.start_at_epoch_ms, done.plan.window_end_epoch_ms, run.name)
        for run in runs
        for done in run.steps
    )
    assert all(before[1] <= after[0] for before, after in pairwise(spans)), "never both at once"
    slow, fast = runs
    assert pair_steps(slow, fast, apart_s=9), "they waited for each other"
    assert_nothing_left(run_twin)
