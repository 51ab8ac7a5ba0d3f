"""A whole run, its workflow carried out by LocalStack's Step Functions in place of the twin's.

Everything else is the twin's: real functions, a real MariaDB on an emulated volume.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.aws.run_files import RESULT, files_of
from plimsoll.local.runner import LocalRun
from plimsoll.local.twin import LocalTwin
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import StepsSearch
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from plimsoll.requests.checked_request import check_request
from plimsoll.requests.experiment_file import read_file
from tests.second_opinion.interpreters import ROOT, StepFunctions, localstack_command, running


@pytest.mark.whole
def test_the_demo_finds_its_knee_on_another_interpreter(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    runs = read_file(ROOT / "scenarios/r1-demo.yaml")
    assert isinstance(runs, dict)
    request = next(iter(runs.values())).request
    assert isinstance(request, Request)
    # The workflow is tested, not how quiet this machine is: a busy one needs more clients until it
    # comes to its knee, and may be disturbed.
    assert isinstance(request.search, StepsSearch)
    search = request.search.model_copy(update={"clients": (*request.search.clients, 18, 27, 40)})
    limits = request.limits.model_copy(update={"audits_off": frozenset({"undisturbed"})})
    patient = request.model_copy(update={"limits": limits, "search": search})
    with (
        running(localstack_command(), tmp_path / "localstack.log") as localstack,
        LocalTwin(tmp_path / "twin", step_functions_url=localstack.url) as twin,
    ):
        localstack.call_aws_at(twin.endpoint_url, twin.keys)
        run = LocalRun(twin, check_request(patient))
        record = run.wait()
        assert record.failure is None, record.failure
        result = files_of(run.settings, run.run_id).get(RESULT, RunResult)
        machine = twin.state_machine_arn("run")
        execution = f"{machine.replace(':stateMachine:', ':execution:')}:{run.run_id}"
        # it was there, and not on the twin, that the workflow ran
        ended = StepFunctions(localstack.url).wait(execution)
        assert twin.databases == {}
    assert ended["status"] == "SUCCEEDED"
    assert record.state is RunState.SUCCEEDED
    assert record.deleted_at is not None
    assert result.capacity is not None
    assert result.capacity.verdict == "KNEE", result.capacity
    assert result.limiting is not None
    assert result.limiting.resource == "storage_iops", result.limiting
    figure = result.capacity.max_sustainable_throughput_ops_per_second
    record_property("counted", f"KNEE at {figure:.0f} ops/s, storage named, target seen deleted")
