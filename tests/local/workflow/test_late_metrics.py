"""Metrics as AWS has them, of whole periods and late: the limit is named all the same.

A minute is six seconds here; all that reckons with it is the same.
"""

import io

import pytest
from rich.console import Console

from plimsoll.aws.run_files import RESULT
from plimsoll.cli.progress import RunProgress
from plimsoll.local.runner import LocalRun
from plimsoll.local.twin import LocalTwin
from plimsoll.model.metric_periods import PATIENCE_PERIODS
from plimsoll.model.run.results import RunResult
from plimsoll.model.settings import Setting
from plimsoll.requests.checked_request import check_request
from tests.local.workflow.conftest import measured, tiny, why

pytestmark = pytest.mark.whole

PERIOD_S = 6
IOPS = 100  # gp2 without credits: so few that even a busy machine reaches them
LATE_S = 4.0
Ended = tuple[RunResult, str]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Return the result of a run that reads what its memory cannot hold, and what was told."""
    asked = tiny(
        "late-metrics",
        target__volume={"type": "gp2", "size_gib": 20, "credits_start": "empty"},
        target__parameters={"innodb_buffer_pool_size": 5 * 2**20},
        workload={"name": "ycsb-c", "records": 10_000},
        # so many connections that some always wait for the volume, whatever waits for a processor
        search={"strategy": "steps", "clients": [1, 4], "connections_per_client": 16},
        load={"warmup_s": 1, "duration_s": PERIOD_S, "recovery_max_s": 1, "timeout_ms": 30_000},
        limits={"statistic": "mean", "confirmation": None, "audits_off": ["undisturbed"]},
    )
    console = Console(file=io.StringIO(), record=True, width=200)
    progress = RunProgress(asked, console)
    settings = {Setting.METRIC_PERIOD_SECONDS: str(PERIOD_S)}
    home = tmp_path_factory.mktemp("late") / "twin"
    with LocalTwin(home, settings=settings, metrics_late_s=LATE_S) as twin:
        run = LocalRun(twin, check_request(asked))
        record = run.wait(progress.show)
        assert record.failure is None, why(record)
        return run.files.get(RESULT, RunResult), console.export_text()


def test_the_storage_is_named_from_whole_periods(ended: Ended) -> None:
    result, _ = ended
    assert result.limiting is not None
    assert result.limiting.resource == "storage_iops", result.limiting.evidence
    assert f"of {IOPS} IOPS" in "; ".join(result.limiting.evidence)
    assert result.notes == ()


def test_every_window_holds_the_points_that_its_figures_are_of(ended: Ended) -> None:
    """One period; two where the halves of one disagreed, so that a window of twice that came."""
    result, _ = ended
    for step in measured(result):
        plan, period_ms = step.plan, 1000 * PERIOD_S
        periods, rest = divmod(plan.window_end_epoch_ms - plan.window_start_epoch_ms, period_ms)
        assert (plan.window_start_epoch_ms % period_ms, rest) == (0, 0)
        assert periods == plan.window_factor
        assert step.target is not None
        assert (step.target.period_s, step.target.points) == (PERIOD_S, periods)


def test_the_conclusion_waited_for_the_last_points_and_said_so(ended: Ended) -> None:
    result, told = ended
    last = max(step.plan.window_end_epoch_ms for step in result.steps)
    moments = result.moments
    assert moments.teardown is not None
    assert moments.conclude is not None
    assert 1000 * moments.teardown.timestamp() >= last + 1000 * LATE_S
    waited = (moments.teardown - moments.conclude).total_seconds()
    assert waited < PATIENCE_PERIODS * PERIOD_S, "it did not wait for what was there"
    assert "conclude: waiting for the target's metrics, until " in told
