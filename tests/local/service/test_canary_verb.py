"""`plimsoll canary --local` as a user meets it: whole, and nothing of it is left."""

import json
from pathlib import Path

import pytest

from plimsoll.model.run.results import RunResult
from tests.local.workflow.conftest import PATIENCE_S
from tests.local.workflow.test_run_verb import left_of, plimsoll


@pytest.mark.alone  # beside others it says, rightly, that this machine was busy
@pytest.mark.whole  # two whole runs; the canary's parts are proven in tests/unit and tests/aws
def test_it_deploys_runs_asserts_compares_and_destroys(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = plimsoll(tmp_path, "canary", "--local", "--json", "--out", str(out))
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, stdout + stderr
    told = json.loads(stdout)
    assert [finding["what"] for finding in told["findings"]] == [
        "the verdict is an answer",
        "what limits is named",
        "the target's metrics are there",
        "the target was seen deleted",
        "nothing is left of the target",
        "nothing is left of the deployment",
    ]
    assert all(finding["holds"] for finding in told["findings"])
    assert (told["passed"], told["left"], told["problem"]) == (True, [], None)
    assert told["usd_estimated"] is None  # nothing was spent
    result = RunResult.model_validate_json((out / "result.json").read_bytes())
    reference = RunResult.model_validate_json((out / "reference" / "result.json").read_bytes())
    assert result.run_id != reference.run_id
    # two runs of one request on a machine do not take the same time to the microsecond
    assert {"field", "here", "there"} == set(told["differences"][0])
    assert left_of(tmp_path) == []
