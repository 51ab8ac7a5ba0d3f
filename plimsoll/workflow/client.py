"""One client of a step: claims its place, sends its load, writes what it measured."""

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from pydantic import Json

import plimsoll_engine
from plimsoll import words
from plimsoll.aws.run_files import REQUEST, claim_path, client_path, files_of, plan_path
from plimsoll.aws.run_records import records_of
from plimsoll.databases.watching import Watcher, open_watcher
from plimsoll.errors import (
    ClientRefusedError,
    ClientTooLateError,
    ConnectionsRefusedError,
    PlimsollError,
)
from plimsoll.fleet.background_client import joined, span_loads
from plimsoll.fleet.memory import memory_max_mib
from plimsoll.fleet.plan import load_spec
from plimsoll.fleet.watchdog import killed_after
from plimsoll.metrics import publish_from_environment
from plimsoll.model.base import Model
from plimsoll.model.databases import protocol_facts
from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.model.engine.answered import LoadReport, SecondReport
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import WARMING_STEP, ClientResult, ServerLook, StepPlan
from plimsoll.requests.phase_workload import compiled_step
from plimsoll.requests.request_workload import background_workload
from plimsoll.targets.connection import load_target
from plimsoll.workflow.metric_points import client_points

# Looking at the target while a client's load is under way.


LOOKS = 20  # in a window, as a rule
EVERY_LEAST_S = 0.2
EVERY_MOST_S = 5.0
LEAVE_S = 1.0  # a look that takes longer at the end is not waited for


@contextmanager
def watched(target: EngineTarget, plan: StepPlan) -> Iterator[list[ServerLook]]:
    """Look at a target within a step's window, beside what is done in the `with`.

    The connection is opened when the window begins, so that it takes no load's place. A target that
    refuses it, or does not answer, is not looked at: the load is what matters.

    Returns:
        What was seen; complete at the end of the `with`. A look that the server does not answer is
        cut off then.
    """
    looks: list[ServerLook] = []
    watchers: list[Watcher] = []
    ended = threading.Event()
    arguments = (target, plan, looks, watchers, ended)
    thread = threading.Thread(target=_look, args=arguments, daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        ended.set()
        thread.join(LEAVE_S)
        for watcher in watchers if thread.is_alive() else ():
            watcher.cut_off()
        thread.join(LEAVE_S)


def _look(
    target: EngineTarget,
    plan: StepPlan,
    looks: list[ServerLook],
    watchers: list[Watcher],
    ended: threading.Event,
) -> None:
    every_s = min(max(plan.duration_s / LOOKS, EVERY_LEAST_S), EVERY_MOST_S)
    if ended.wait(max(0.0, plan.window_start_epoch_ms / 1000 - time.time())):
        return
    try:
        watcher = open_watcher(target)
        if watcher is None:
            return
        with watcher as server:
            watchers.append(server)
            while time.time() * 1000 < plan.window_end_epoch_ms and not ended.is_set():
                looks.append(server.look())
                ended.wait(every_s)
    except PlimsollError:
        return


# A client's load, and the looks at its target meanwhile.


WATCHES = 0  # the client that looks at the target beside its load

OnSecond = Callable[[str], None]


def send_watched(
    spec: LoadSpec,
    plan: StepPlan,
    on_second: OnSecond | None = None,
    cancel: plimsoll_engine.CancelToken | None = None,
) -> tuple[LoadReport, tuple[ServerLook, ...]]:
    """Send a client's load; the first client of a step looks at the target beside it.

    Raises:
        ConnectionsRefusedError: The target has no room for all of its connections.
        EngineError: The target refuses the client.
    """
    watching: AbstractContextManager[list[ServerLook]] = nullcontext([])
    if spec.client_index == WATCHES:
        watching = watched(spec.target, plan)
    with watching as looks:
        report = send(spec, on_second, cancel)
    return report, tuple(looks)


def send(
    spec: LoadSpec,
    on_second: OnSecond | None = None,
    cancel: plimsoll_engine.CancelToken | None = None,
) -> LoadReport:
    """Send a client's load, which `cancel` ends early.

    Raises:
        ConnectionsRefusedError: The target has no room for all of its connections.
        EngineError: The target refuses the client.
    """
    try:
        return LoadReport.model_validate_json(
            plimsoll_engine.run(spec.model_dump_json(), on_second, cancel)
        )
    except plimsoll_engine.EngineError as error:
        if error.code in protocol_facts(spec.target.protocol).full:
            raise ConnectionsRefusedError(str(error)) from None
        raise


# Telling whoever looks at a run of each second of its load: on one machine, and only if one does.


VARIABLE = "PLIMSOLL_TELL_SECONDS"  # the path of the file; no deployment on AWS has it
FILE = "seconds-are-told-to.json"  # its name, in a twin's folder, which no other user can read
LONGEST_BYTES = 60_000  # of a datagram: a second of a hundred operations is half of it


class TellTo(Model):
    """What stands in the file."""

    port: int  # on 127.0.0.1
    key: str  # shows that a datagram comes from whoever could read the file


class Told(Model):
    """A datagram: one second of one client."""

    key: str
    run_id: str
    step: int
    start_at_epoch_ms: int  # of the step
    clients: int  # of the step
    client: int
    second: Json[tuple[SecondReport, ...]]  # by operation


@contextmanager
def telling(run_id: str, plan: StepPlan, client: int) -> Iterator[Callable[[str], None] | None]:
    """Give what takes each second of a load as the engine writes it; None: nobody looks."""
    to = _asked()
    if to is None:
        yield None
        return
    head = {
        "key": to.key,
        "run_id": run_id,
        "step": plan.index,
        "start_at_epoch_ms": plan.start_at_epoch_ms,
        "clients": plan.clients,
        "client": client,
    }
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(("127.0.0.1", to.port))

        def tell(second: str) -> None:
            with suppress(OSError):
                out.send(json.dumps({**head, "second": second}).encode())

        yield tell


def _asked() -> TellTo | None:
    """Read who looks."""
    path = os.environ.get(VARIABLE)
    if path is None:
        return None
    try:
        return TellTo.model_validate_json(Path(path).read_bytes())
    except (OSError, ValueError):
        return None


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
