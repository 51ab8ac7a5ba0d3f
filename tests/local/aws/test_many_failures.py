"""However many clients fail, the run's workflow goes on: their failures do not travel in its state.

The machine itself is executed by the twin's interpreter; its functions are scripted.
"""

from collections.abc import Sequence

import pytest

from plimsoll.aws.run_files import PARTS_FAILURES, failures_folder
from plimsoll.fleet.failures import describe_failures, extract_causes
from plimsoll.model.run.fleet import FailedClient
from tests.second_opinion.interpreters import StepFunctions, running, twin_command
from tests.second_opinion.scenarios import definition, scenarios
from tests.second_opinion.scripted_aws import WRITTEN, Call, ScriptedAws

# a thousand failures take long; a run's few are written by the tests of runs in `make test`
pytestmark = pytest.mark.whole
STATE_MOST_BYTES = 256 * 1024  # docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html


Carried = tuple[str, Sequence[Call], list[int]]


@pytest.fixture(scope="module")
def carried_out(tmp_path_factory: pytest.TempPathFactory) -> Carried:
    """A run of which 30 parts and 1,000 clients fail.

    Its status, its calls, and the bytes of each state's input and output.
    """
    title, log = "30 parts and 1000 clients fail", tmp_path_factory.mktemp("twin") / "log"
    (scenario,) = [s for s in scenarios() if (s.machine, s.title) == ("run", title)]
    with (
        ScriptedAws({scenario.name: scenario.script}) as aws,
        running(twin_command(), log) as interpreter,
    ):
        interpreter.call_aws_at(aws.url)
        states = StepFunctions(interpreter.url)
        machine = states.create("run", definition("run"))
        execution = states.start(machine, scenario.name, scenario.given)
        status = states.wait(execution)["status"]
        return status, aws.calls(scenario.name), states.carried(execution)


def test_the_state_stays_small_and_each_failure_is_written(carried_out: Carried) -> None:
    status, calls, carried = carried_out
    assert status == "SUCCEEDED"
    assert max(carried) < STATE_MOST_BYTES / 10
    written = [call.payload for call in calls if call.name == WRITTEN]
    assert len({payload["key"] for payload in written}) == len(written) == 1030
    assert {payload["failure"]["error"] for payload in written} == {"Sandbox.Timedout"}


def test_what_is_written_of_a_thousand_clients_is_told_in_one_sentence(
    carried_out: Carried,
) -> None:
    _, calls, _ = carried_out
    written = [call.payload for call in calls if call.name == WRITTEN]
    of_step = [one for one in written if failures_folder(1) in one["key"]]
    (told,) = describe_failures(
        extract_causes(FailedClient.model_validate(one["failure"]) for one in of_step)
    )
    assert told.startswith("1,000 clients (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...) failed: Sandbox.Tim")
    (judging,) = [call.payload for call in calls if call.name == "judge-step"]
    assert judging == {"run_id": judging["run_id"], "step": 1}


def test_parts_that_failed_are_counted_and_their_causes_written(carried_out: Carried) -> None:
    _, calls, _ = carried_out
    (verifying,) = [call.payload for call in calls if call.name == "verify-dataset"]
    assert verifying["failed_parts"] == 30
    written = [call.payload["key"] for call in calls if call.name == WRITTEN]
    assert sum(PARTS_FAILURES in key for key in written) == 30
