"""A step knows of the one machine that everything runs on; on AWS it asks nothing of CloudWatch."""

import gzip
import json
import re

import pytest

from plimsoll.aws.run_files import (
    HISTORY,
    UNPACKED_MOST,
    RunFiles,
    client_path,
    plan_path,
    step_path,
    unpack_file,
)
from plimsoll.databases import mysql
from plimsoll.errors import StepError, UnreadableFileError
from plimsoll.model.judging.steps import History, TargetSample
from plimsoll.model.request.background import BackgroundLoad
from plimsoll.model.run.fleet import WARMING_STEP
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunRecord, TargetAddress
from plimsoll.workflow import judge_step
from tests.aws.workflow.conftest import RUN, recorded
from tests.support.every_setting import EverySetting
from tests.unit.fleet.test_merge import START_MS, after, planned, result

TARGET = TargetAddress(
    protocol="mysql", host="127.0.0.1", port=1, database="db", secret_arn="arn", identifier="db-1"
)


@pytest.fixture
def judged(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> EverySetting:
    """A run whose step of two clients has just ended, on a target that answers."""
    recorded(deployment, target=TARGET)
    files = deployment.files(RUN)
    files.put_model(plan_path(1), planned())
    for client in (0, 1):
        one = result(client, [100] * 400).model_copy(update={"run_id": RUN})
        files.put_model(client_path(1, client), one)
    monkeypatch.setattr(judge_step, "connect_as_master", lambda _, known: known)
    monkeypatch.setattr(mysql, "read_counters", lambda _: after(1100))
    return deployment


def test_on_one_machine_the_step_knows_how_far_the_machine_was_disturbed(
    judged: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = tuple(
        TargetSample(
            epoch_ms=START_MS + ms,
            host_late_percent=late,
            host_stolen_percent=4.0,
            host_others_percent=late + 5,
            host_idle_percent=40.0,
            read_iops=200.0,
            write_iops=100.0,
            read_mib_s=8.0,
            write_mib_s=1.0,
            escaped_iops=late * 2,
            escaped_mib_s=1.0,
        )
        for ms, late in ((2_000, 20.0), (3_000, 40.0))
    )

    def read(deployment: EverySetting, record: RunRecord, **_: object) -> tuple[TargetSample, ...]:
        assert (deployment, record.run_id) == (here, RUN)
        return samples

    here = judged.model_copy(update={"on_one_machine": True, "metric_period_seconds": 1})
    monkeypatch.setattr(judge_step, "read_target_samples", read)
    judge_step.judge_step(here, RUN, 1)
    step = here.files(RUN).get(step_path(1), StepResult).step
    assert (step.host_late_percent, step.host_stolen_percent) == (30.0, 4.0)
    assert (step.host_others_percent, step.host_idle_percent) == (35.0, 40.0)
    assert (step.escaped_iops, step.escaped_mib_s) == (60.0, 1.0)
    assert step.escaped_percent == pytest.approx(100 * 60 / 360)  # of the I/Os; 10 % of the bytes
    assert step.client_waiting_percent is None  # here clients wait for the target, their own load


def write_failure(deployment: EverySetting, step: int, client: int, error: str, cause: str) -> None:
    """Write a client's failure as the workflow does."""
    failure = {"client": client, "error": error, "cause": cause}
    deployment.files(RUN).put(f"steps/{step}/failures/{client}.json", json.dumps(failure))


def late(deployment: EverySetting, step: int) -> None:
    """Judge a step for which both of its clients came too late."""
    deployment.files(RUN).put_model(plan_path(step), planned().model_copy(update={"index": step}))
    cause = "called 9.0 s after the barrier"
    for client in (0, 1):
        write_failure(deployment, step, client, "ClientTooLateError", cause)
    told = judge_step.judge_step(deployment, RUN, step)
    assert (told.step, told.throughput_ops_per_second, told.passed) == (step, None, None)
    assert told.problems[0].startswith("this step does not count: no client of step ")


def test_a_step_that_all_clients_missed_is_void_and_the_run_goes_on(judged: EverySetting) -> None:
    late(judged, 2)
    step = judged.files(RUN).get(step_path(2), StepResult).step
    assert step.void == (
        "no client of step 2 ran: 2 clients (0, 1) failed: called 9.0 s after the barrier"
    )
    assert judged.records.get(RUN).steps_finished == 1


def test_five_void_steps_in_a_row_end_the_run(judged: EverySetting) -> None:
    judge_step.judge_step(judged, RUN, 1)
    for step in (2, 3, 4, 5):
        late(judged, step)
    with pytest.raises(StepError, match=r"5 steps in a row had no usable result; .* of step 6 ran"):
        late(judged, 6)


@pytest.mark.parametrize("step", [WARMING_STEP, 2])
def test_a_step_whose_clients_failed_ends_the_run_at_once(judged: EverySetting, step: int) -> None:
    plan = planned(clients=1).model_copy(update={"index": step})
    judged.files(RUN).put_model(plan_path(step), plan)
    write_failure(judged, step, 0, "Lambda.Unknown", "signal: killed")
    with pytest.raises(StepError, match=rf"^no client of step {step} ran: client 0 .*: signal"):
        judge_step.judge_step(judged, RUN, step)


def test_a_step_whose_target_is_full_has_failed_and_the_run_goes_on(judged: EverySetting) -> None:
    judge_step.judge_step(judged, RUN, 1)
    judged.files(RUN).put_model(plan_path(2), planned(clients=4).model_copy(update={"index": 2}))
    for client in range(4):
        cause = "Too many connections (10 of 16 connections were open)"
        write_failure(judged, 2, client, "ConnectionsRefusedError", cause)
    told = judge_step.judge_step(judged, RUN, 2)
    assert (told.passed, told.reasons) == (False, ("connections",))
    assert judged.records.get(RUN).steps_finished == 2


def test_a_closing_step_whose_clients_failed_takes_no_answer_with_it(judged: EverySetting) -> None:
    for step in range(2, 9):
        plan = planned(clients=1).model_copy(update={"index": step, "purpose": "soak"})
        judged.files(RUN).put_model(plan_path(step), plan)
        write_failure(judged, step, 0, "Lambda.Unknown", "signal: killed")
        judge_step.judge_step(judged, RUN, step)
        assert judged.files(RUN).get(step_path(step), StepResult).step.void


def test_a_window_of_a_soak_is_read_second_by_second(judged: EverySetting) -> None:
    judged.files(RUN).put_model(plan_path(1), planned().model_copy(update={"purpose": "soak"}))
    judge_step.judge_step(judged, RUN, 1)
    step = judged.files(RUN).get(step_path(1), StepResult).step
    assert step.purpose == "soak"
    assert step.spans == ()  # its window is shorter than a span
    assert step.stall_s is not None


@pytest.mark.whole  # one failure is written and told in the same way
def test_a_thousand_failures_are_all_written_and_told_within_an_event(judged: EverySetting) -> None:
    """Of 1,002 clients two ran. What the workflow carries and the bus takes is 256 KiB."""
    judged.files(RUN).put_model(plan_path(1), planned(clients=1002))
    for client in range(2, 1002):
        write_failure(judged, 1, client, "Sandbox.Timedout", f"request {client} timed out " * 20)
    told = judge_step.judge_step(judged, RUN, 1)
    assert len(told.model_dump_json()) < 256 * 1024 / 10
    assert told.problems[0] == f"client 2 failed: Sandbox.Timedout: {'request 2 timed out ' * 20}"
    assert "990 more clients failed for other reasons" in told.problems
    step = judged.files(RUN).get(step_path(1), StepResult)
    assert [failed.client for failed in step.fleet.failed] == list(range(2, 1002))
    assert (step.fleet.ran, step.fleet.missing) == (2, ())


def test_a_damaged_file_of_a_client_is_named(judged: EverySetting) -> None:
    files, path = judged.files(RUN), client_path(1, 1)
    whole = files.find(path)
    assert whole is not None
    file = json.loads(unpack_file(path, whole))
    file["report"]["operations"]["read"]["succeeded"] = "many"
    for content, said in (
        (whole[: len(whole) // 2], "cannot be unpacked: it is cut off"),
        (b"{}", "cannot be unpacked: Error -3"),
        (gzip.compress(bytes(UNPACKED_MOST + 1)), "cannot be unpacked: it is too large"),
        (gzip.compress(b"{}"), "is not a client's result: `report` is missing"),
        (gzip.compress(json.dumps(file).encode()), "report.operations.read.succeeded: Input"),
    ):
        files.put(path, content)
        with pytest.raises(UnreadableFileError, match=f"^{re.escape(path)} .*{said}"):
            judge_step.judge_step(judged, RUN, 1)


def test_judged_steps_are_not_read_again(
    judged: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_step.judge_step(judged, RUN, 1)
    plan = planned().model_copy(update={"index": 2})
    judged.files(RUN).put_model(plan_path(2), plan)
    for client in (0, 1):
        one = result(client, [100] * 400).model_copy(update={"run_id": RUN, "step": 2})
        judged.files(RUN).put_model(client_path(2, client), one)
    read: list[str] = []
    reading = RunFiles._read

    def noting(files: RunFiles, path: str) -> bytes:
        read.append(path)
        return reading(files, path)

    monkeypatch.setattr(RunFiles, "_read", noting)
    for _ in range(2):  # its answer may be lost, and the workflow calls again
        judge_step.judge_step(judged, RUN, 2)
    assert step_path(1) not in read
    history = judged.files(RUN).get(HISTORY, History)
    assert [done.step.index for done in history.steps] == [1, 2]
    assert judged.records.get(RUN).steps_finished == 2


def test_on_aws_nothing_is_asked_of_cloudwatch_which_this_function_may_not_reach(
    judged: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("judge-step has no permission for this on AWS, nor a way there")

    monkeypatch.setattr(judge_step, "read_target_samples", refused)
    judge_step.judge_step(judged, RUN, 1)
    step = judged.files(RUN).get(step_path(1), StepResult).step
    assert (step.host_late_percent, step.host_stolen_percent) == (None, None)
    assert step.escaped_percent is None
    assert step.client_waiting_percent == pytest.approx(100 * 0.2 / 0.6)


def test_what_ran_beside_a_step_is_merged_apart(judged: EverySetting) -> None:
    files = judged.files(RUN)
    load = BackgroundLoad(
        name="nightly", number=0, first_client=2, clients=1, connections=1,
        rate_ops_per_second=None, spans_s=((0, 5),),
    )  # fmt: skip
    files.put_model(plan_path(1), planned().model_copy(update={"background": (load,)}))
    one = result(2, [900] * 40).model_copy(update={"run_id": RUN, "background": "nightly"})
    files.put_model(client_path(1, 2), one)
    told = judge_step.judge_step(judged, RUN, 1)
    assert told.throughput_ops_per_second == 200
    step = files.get(step_path(1), StepResult)
    assert (step.step.operations, step.fleet.planned, step.fleet.ran) == (800, 2, 2)
    (beside,) = step.background
    assert (beside.name, beside.throughput_ops_per_second) == ("nightly", 10)


def test_a_step_whose_background_did_not_run_is_void(judged: EverySetting) -> None:
    load = BackgroundLoad(
        name="nightly", number=0, first_client=2, clients=1, connections=1,
        rate_ops_per_second=None, spans_s=((0, 5),),
    )  # fmt: skip
    plan = planned().model_copy(update={"background": (load,)})
    judged.files(RUN).put_model(plan_path(1), plan)
    write_failure(judged, 1, 2, "EngineError", "no such table")
    told = judge_step.judge_step(judged, RUN, 1)
    assert "the background nightly did not run: client 2 failed: no such table" in told.problems[0]
    step = judged.files(RUN).get(step_path(1), StepResult).step
    assert step.void is not None
