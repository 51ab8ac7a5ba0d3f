"""What the workflow carries of ten thousand clients, and how long its history grows.

Step Functions takes 256 KiB as a state's input or output, and 25,000 events in an execution
(docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html).
"""

import json

from plimsoll.statemachines import FOLDER
from plimsoll.workflow.barrier import Next
from tests.unit.fleet.test_merge import planned

PAYLOAD_MOST = 256 * 1024
EVENTS_MOST = 25_000
CLIENTS_MOST = 10_000
# entered and exited; a task is scheduled, started and ended besides, a Map Run started and ended
EVENTS = {"Task": 5, "Choice": 2, "Map": 5, "Wait": 2}
STATES = json.loads((FOLDER / "run.asl.json").read_text())["States"]


def test_ten_thousand_clients_fit_into_what_the_workflow_carries() -> None:
    told = json.dumps(Next.step(planned(clients=CLIENTS_MOST)))
    assert len(told) < PAYLOAD_MOST / 4
    assert len(json.dumps([0] * CLIENTS_MOST)) < PAYLOAD_MOST / 4  # the Map's own result


def test_a_soak_of_a_day_is_one_step_of_the_runs_history() -> None:
    """Its windows take turns in executions of their own (tests/unit/statemachines)."""
    loop = ["PlanStep", "WhatNext?", "RunRelay", "JudgeStep", "TellStep"]
    assert STATES["RunRelay"]["Next"] == "JudgeStep"
    assert sum(EVENTS[STATES[name]["Type"]] for name in loop) == 22


def test_a_steps_history_does_not_grow_with_its_clients() -> None:
    """Each client is an execution of its own, with a history of its own."""
    loop = ["PlanStep", "WhatNext?", "RunClients", "JudgeStep", "TellStep"]
    clients = STATES["RunClients"]
    assert clients["ItemProcessor"]["ProcessorConfig"]["Mode"] == "DISTRIBUTED"
    assert clients["Output"] == {}
    assert STATES["TellStep"]["Next"] == loop[0]
    a_step = sum(EVENTS[STATES[name]["Type"]] for name in loop)
    assert a_step == 22
    assert EVENTS_MOST / a_step > 1_000  # steps, each of at least ten seconds
