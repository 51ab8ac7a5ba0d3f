"""A run that ends before its conclusion keeps what was measured, second by second."""

import re

from plimsoll.aws.run_files import REPORT, SECONDS
from plimsoll.model.results import Seconds, TargetSample
from plimsoll.model.run_record import RunState
from plimsoll.runs.end import end_run
from tests.aws.runs.conftest import RUN, recorded
from tests.aws.runs.test_publish import measured
from tests.support.every_setting import EverySetting

STOPPED = {"phase": "step", "error": "RunStoppedError", "cause": "the run was stopped"}


def test_a_stopped_run_shows_what_its_clients_saw(deployment: EverySetting) -> None:
    measured(deployment)
    end_run(deployment, RUN, failure=STOPPED)

    assert deployment.records.get(RUN).state is RunState.STOPPED
    series = deployment.files(RUN).get(SECONDS, Seconds)
    assert sum(second.succeeded for second in series.operations) == 100
    assert series.target == ()
    page = (deployment.files(RUN).find(REPORT) or b"").decode()
    assert re.search(r'<div class="chart" id="timeline"', page)
    assert not re.search(r'<div class="chart" id="curve"', page)


def test_the_series_of_a_conclusion_stay_as_they_are(deployment: EverySetting) -> None:
    measured(deployment)
    sample = TargetSample(epoch_ms=1_790_000_000_000, queue=1.0)
    concluded = Seconds(run_id=RUN, operations=(), target=(sample,))
    deployment.files(RUN).put_model(SECONDS, concluded)
    end_run(deployment, RUN, failure=STOPPED)
    assert deployment.files(RUN).get(SECONDS, Seconds) == concluded


def test_a_run_that_measured_nothing_has_no_series(deployment: EverySetting) -> None:
    recorded(deployment)
    end_run(deployment, RUN, failure={**STOPPED, "phase": "provision"})
    assert deployment.files(RUN).find(SECONDS) is None
