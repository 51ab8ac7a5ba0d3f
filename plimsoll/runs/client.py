"""One client of a step: claims its place, sends its load, writes what it measured."""

import sys
import time

from plimsoll import words
from plimsoll.aws.run_files import REQUEST, claim_path, client_path, files_of, plan_path
from plimsoll.aws.run_records import records_of
from plimsoll.errors import ClientRefusedError, ClientTooLateError
from plimsoll.fleet.background_client import joined, span_loads
from plimsoll.fleet.memory import memory_max_mib
from plimsoll.fleet.plan import load_spec
from plimsoll.fleet.watchdog import killed_after
from plimsoll.metrics import publish_from_environment
from plimsoll.model.engine_report import LoadReport
from plimsoll.model.fleet import WARMING_STEP, ClientResult, ServerLook, StepPlan
from plimsoll.model.function_settings import ReachSettings
from plimsoll.model.request import Request
from plimsoll.requests.phase_workload import compiled_step
from plimsoll.requests.request_workload import background_workload
from plimsoll.runs.metric_points import client_points
from plimsoll.runs.sending import send, send_watched
from plimsoll.runs.telling import telling
from plimsoll.targets.connection import load_target

GRACE_S = 20.0  # after its window, to let operations end and to write its results
WRITES_PER_S = 2_000  # of all clients of a step: S3 takes 3,500 a second under one prefix
_CALLS = {"here": 0}  # calls of this process; the first one is its cold start


def run_client(settings: ReachSettings, run_id: str, step: int, client: int) -> None:
    """Run one client of a step.

    Raises:
        ClientRefusedError: This client's load is being sent already.
        ClientTooLateError: The window is half over.
        ConnectionsRefusedError: The target has no room for all of its connections.
        EngineError: The target refuses the client.
    """
    invoked_ms = round(time.time() * 1000)
    cold = _CALLS["here"] == 0
    _CALLS["here"] += 1
    files = files_of(settings, run_id)
    plan = files.get(plan_path(step), StepPlan)
    if (
        step == WARMING_STEP
    ):  # nothing in the step waits for this client: it begins when it is there
        start = max(plan.start_at_epoch_ms, invoked_ms)
        plan = plan.model_copy(update={"start_at_epoch_ms": start})
    if invoked_ms > plan.window_start_epoch_ms + plan.duration_s * 500:
        raise ClientTooLateError(
            f"called {words.duration((invoked_ms - plan.start_at_epoch_ms) / 1000)} after the"
            " barrier, when"
            " half of the window was over"
        )
    if not files.claim(claim_path(step, client, plan.round)):
        raise ClientRefusedError("this client's load is being sent by an earlier call")
    left_s = (plan.window_end_epoch_ms - invoked_ms) / 1000 + plan.timeout_ms / 1000 + GRACE_S
    beside = plan.background_of(client)
    with killed_after(left_s):
        report, looks = _load(settings, run_id, plan, client)
        result = ClientResult(
            run_id=run_id,
            step=step,
            client=client,
            invoked_epoch_ms=invoked_ms,
            cold_start=cold,
            memory_max_mib=memory_max_mib(),
            report=report,
            looks=looks,
            background=beside.name if beside else None,
        )
        time.sleep(client / WRITES_PER_S)  # thousands end at the same instant
        files.put_model(client_path(step, client, plan.round), result)
        if beside is None:  # a sink adds up whatever clients tell
            _publish(result, plan)


def _load(
    settings: ReachSettings, run_id: str, plan: StepPlan, client: int
) -> tuple[LoadReport, tuple[ServerLook, ...]]:
    record = records_of(settings).require_running(run_id)
    assert record.target is not None  # noqa: S101 - a step is planned for a target
    request = files_of(settings, run_id).get(REQUEST, Request)
    target = load_target(settings, record.target, run_id)
    beside = plan.background_of(client)
    if beside is not None:
        compiled = background_workload(request, beside.number)
        workload = compiled.engine_workload(load_number=beside.load_number)
        spans = list(span_loads(plan, beside, client, workload=workload, target=target))
        return joined(plan, [(span, send(span.spec)) for span in spans]), ()
    workload = compiled_step(request, plan.phase).engine_workload(load_number=plan.load_number)
    spec = load_spec(plan, client, workload=workload, target=target)
    with telling(run_id, plan, client) as tell:
        return send_watched(spec, plan, tell)


def _publish(result: ClientResult, plan: StepPlan) -> None:
    """Send the client's seconds to the deployment's sink of metrics; its files are the truth."""
    published = publish_from_environment(client_points(result, plan))
    if published.problem:
        print(f"metrics: {published.problem}", file=sys.stderr)
