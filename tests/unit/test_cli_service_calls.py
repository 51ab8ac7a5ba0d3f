"""What the commands of a service print of a run."""

import pytest

from plimsoll import words
from plimsoll.cli.service_calls import describe_capacity
from plimsoll.model.judging.capacity import Bound
from plimsoll.model.service.answers import RunSummary

_ENDED: dict[str, object] = {
    "run_id": "r-1",
    "name": "nightly",
    "team": "default",
    "state": "SUCCEEDED",
    "phase": "teardown",
    "local": False,
    "tags": {},
    "progress": {"step": 3, "steps_finished": 3},
    "failure": None,
    "submitted_at": "2026-11-24T10:00:00Z",
    "started_at": "2026-11-24T10:00:01Z",
    "expires_at": "2026-11-24T16:00:00Z",
    "ended_at": "2026-11-24T11:00:00Z",
    "deleted_at": "2026-11-24T11:00:00Z",
}


@pytest.mark.parametrize(
    ("verdict", "figure", "bound", "told"),
    [
        ("KNEE", 939.1, "=", "KNEE 939 ops/s"),
        ("KNEE", 939.1, ">=", "KNEE ≥ 939 ops/s"),  # by credits, whatever its verdict
        ("LOWER_BOUND", 939.1, ">=", "LOWER_BOUND ≥ 939 ops/s"),
        ("BELOW_FIRST_STEP", 939.1, "<", "BELOW_FIRST_STEP < 939 ops/s"),
        ("NOISY", None, None, "NOISY"),
        (None, None, None, words.NOTHING),
    ],
)
def test_a_runs_answer_has_the_sign_of_its_bound(
    verdict: str | None, figure: float | None, bound: Bound | None, told: str
) -> None:
    judged = {"verdict": verdict, "capacity_ops_per_second": figure, "bound": bound}
    assert describe_capacity(RunSummary.model_validate(_ENDED | judged)) == told
