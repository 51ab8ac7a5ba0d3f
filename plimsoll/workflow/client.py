"""Runs one client of a step: claims its place, sends its load, writes what it measured.

The first client also samples the server's state during the window.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import Json

import plimsoll_engine
from plimsoll import words
from plimsoll.aws.function_log import log_line
from plimsoll.aws.run_files import (
    REQUEST,
    claim_path,
    client_path,
    files_of,
    plan_path,
    require_near_end,
)
from plimsoll.aws.run_records import now, records_of
from plimsoll.databases.reading_back import add_read_back
from plimsoll.databases.watching import Watcher, open_watcher
from plimsoll.errors import (
    ClientRefusedError,
    ClientTooLateError,
    ConnectionsRefusedError,
    PlimsollError,
)
from plimsoll.fleet.background_client import join_spans, list_span_loads
from plimsoll.fleet.plan import make_load_spec
from plimsoll.fleet.watchdog import kill_after
from plimsoll.machine import read_peak_memory_mib
from plimsoll.metrics import publish_from_environment
from plimsoll.model.base import Model
from plimsoll.model.databases import find_protocol_facts
from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.model.engine.answered import LoadReport, SecondReport
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import WARMING_STEP, ClientResult, ServerLook, StepPlan
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.model.timings import RELAY_LOOK_S, WRITES_PER_S
from plimsoll.requests.checked_request import check_request
from plimsoll.targets.connection import connect_as_load_user
from plimsoll.workflow.log_filling import fill_before
from plimsoll.workflow.metric_points import list_client_points

# Samples of the server's state during the load.


LOOKS = 20  # samples in a window, within the limits below
EVERY_LEAST_S = 0.2
EVERY_MOST_S = 1.0
LEAVE_S = 1.0  # a last sample that takes longer is cut off


@contextmanager
def sample_server(target: EngineTarget, plan: StepPlan) -> Iterator[list[ServerLook]]:
    """Sample a target's state in a step's window while the body of the `with` runs.

    The connection is opened when the window begins, so that it takes no place of the load's. A
    target that refuses it or does not answer is not sampled: the load matters more.

    Returns:
        The samples, complete at the end of the `with`. A sample that the server has not answered by
        then is cut off.
    """
    looks: list[ServerLook] = []
    watchers: list[Watcher] = []
    ended = threading.Event()
    arguments = (target, plan, looks, watchers, ended)
    thread = threading.Thread(target=_take_samples, args=arguments, daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        ended.set()
        thread.join(LEAVE_S)
        for watcher in watchers if thread.is_alive() else ():
            watcher.cut_off()
        thread.join(LEAVE_S)


def _take_samples(
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


# The client's load.


WATCHES = 0  # number of the client that samples the server beside its load

OnSecond = Callable[[str], None]


def send_and_sample(
    spec: LoadSpec,
    plan: StepPlan,
    on_second: OnSecond | None = None,
    cancel: plimsoll_engine.CancelToken | None = None,
) -> tuple[LoadReport, tuple[ServerLook, ...]]:
    """Send a client's load; the first client of a step also samples the server.

    After its load it reads back what was written, too.

    Raises:
        ConnectionsRefusedError: The target has no room for all of its connections.
        EngineError: The target refuses the client.
    """
    if spec.client_index != WATCHES:
        return send_load(spec, on_second, cancel), ()
    with sample_server(spec.target, plan) as looks:
        report = send_load(spec, on_second, cancel)
    return add_read_back(spec, report), tuple(looks)


def send_load(
    spec: LoadSpec,
    on_second: OnSecond | None = None,
    cancel: plimsoll_engine.CancelToken | None = None,
) -> LoadReport:
    """Send a client's load; `cancel` ends it early.

    Raises:
        ConnectionsRefusedError: The target has no room for all of its connections.
        EngineError: The target refuses the client.
    """
    try:
        text = plimsoll_engine.run(spec.model_dump_json(), on_second, cancel)
        return LoadReport.model_validate_json(text).with_meaning(spec.workload)
    except plimsoll_engine.EngineError as error:
        if error.code in find_protocol_facts(spec.target.protocol).full:
            raise ConnectionsRefusedError(str(error)) from None
        raise


# Live seconds for whoever follows a run on one machine, sent as datagrams.


VARIABLE = "PLIMSOLL_TELL_SECONDS"  # holds the file's path; never set on AWS
FILE = "seconds-are-told-to.json"  # in the twin's folder, which no other user can read
LONGEST_BYTES = 60_000  # longest datagram; a second of a hundred operations takes half of it


class SecondsAddress(Model):
    """The content of the file: where to send the seconds."""

    port: int  # on 127.0.0.1
    key: str  # proves that the sender could read the file


class SecondDatagram(Model):
    """A datagram: one second of one client."""

    key: str
    run_id: str
    step: int
    start_at_epoch_ms: int  # start of the step
    clients: int  # number of clients in the step
    client: int
    second: Json[tuple[SecondReport, ...]]  # one report per operation


@contextmanager
def open_second_sender(
    run_id: str, plan: StepPlan, client: int
) -> Iterator[Callable[[str], None] | None]:
    """Yield a function that sends each second of a load to the follower; None if there is none."""
    to = _read_follower()
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


def _read_follower() -> SecondsAddress | None:
    """Read where to send the seconds; None if nobody follows the run."""
    path = os.environ.get(VARIABLE)
    if path is None:
        return None
    try:
        return SecondsAddress.model_validate_json(Path(path).read_bytes())
    except (OSError, ValueError):
        return None


GRACE_S = 20.0  # after the window, for operations to end and results to be written
_CALLS = {"here": 0}  # calls of this process; the first one is its cold start


def run_client(settings: ReachSettings, run_id: str, step: int, client: int) -> bool:
    """Run one client of a step and write its result file.

    Returns:
        Whether the step's relay is over, so that no further client of it is to be called.

    Raises:
        ClientRefusedError: An earlier call is sending this client's load already.
        ClientTooLateError: Half of the window is over.
        ConnectionsRefusedError: The target has no room for all of its connections.
        EngineError: The target refuses the client.
    """
    invoked_ms = round(time.time() * 1000)
    cold = _CALLS["here"] == 0
    _CALLS["here"] += 1
    files = files_of(settings, run_id)
    plan = files.get(plan_path(step), StepPlan)
    require_near_end(plan, invoked_ms)
    if plan.relay is not None and _is_over(records_of(settings).get(run_id), step):
        return True
    if client >= plan.clients_in_all:  # another window of its relay has more background clients
        return False
    if step == WARMING_STEP:  # nobody waits for this client, so it starts when it is ready
        start = max(plan.start_at_epoch_ms, invoked_ms)
        plan = plan.model_copy(update={"start_at_epoch_ms": start})
    if invoked_ms > plan.window_start_epoch_ms + plan.duration_s * 500:
        late = words.format_duration((invoked_ms - plan.start_at_epoch_ms) / 1000)
        raise ClientTooLateError(
            f"called {late} after the barrier, when half of the window was over"
        )
    if not files.claim(claim_path(step, client, plan.round)):
        raise ClientRefusedError("this client's load is being sent by an earlier call")
    left_s = (plan.window_end_epoch_ms - invoked_ms) / 1000 + plan.timeout_ms / 1000 + GRACE_S
    beside = plan.background_of(client)
    with kill_after(left_s):
        sent = _send_until_end(settings, run_id, plan, client)
        if sent is None:
            return True
        report, looks = sent
        result = ClientResult(
            run_id=run_id,
            step=step,
            client=client,
            invoked_epoch_ms=invoked_ms,
            cold_start=cold,
            memory_max_mib=read_peak_memory_mib(),
            report=report,
            looks=looks,
            background=beside.name if beside else None,
        )
        time.sleep(client / WRITES_PER_S)  # spread the writes: thousands of clients end at once
        files.put_model(client_path(step, client, plan.round), result)
        if beside is None:  # the sink would add background operations to the step's own
            _publish_client(result, plan)
    # This client's next turn is two windows later; nobody waits for it if that will not come.
    return plan.relay is not None and _is_over(records_of(settings).get(run_id), step + 2)


def _send_until_end(
    settings: ReachSettings, run_id: str, plan: StepPlan, client: int
) -> tuple[LoadReport, tuple[ServerLook, ...]] | None:
    """Send a client's load; None if its run ended meanwhile, since half a window says nothing."""
    with _watch_for_end(settings, run_id, plan, client) as cancel:
        try:
            sent = _send_client_load(settings, run_id, plan, client, cancel.token)
        except (PlimsollError, plimsoll_engine.EngineError):
            if not cancel.over:
                raise
            return None
    return None if cancel.over else sent


def _is_over(record: RunRecord, step: int) -> bool:
    """Return whether a relay ends before a step: the run has ended, or a window has failed."""
    expired = record.expires_at is not None and now() >= record.expires_at
    ended = record.relay_until is not None and step > record.relay_until
    return record.state is not RunState.RUNNING or expired or ended


class _Cancel:
    """Ends a client's load before its time.

    Attributes:
        token: What the engine looks at.
        over: Whether the load was ended.
    """

    def __init__(self) -> None:
        self.token = plimsoll_engine.CancelToken()
        self.over = False

    def end(self) -> None:
        """End the load."""
        self.over = True
        self.token.cancel()


@contextmanager
def _watch_for_end(
    settings: ReachSettings, run_id: str, plan: StepPlan, client: int
) -> Iterator[_Cancel]:
    """End a relay's load when its run has ended, while the body of the `with` sends it.

    A soak lasts for hours, and whoever stops it waits for its clients. Other loads end soon anyway.
    """
    cancel, sent = _Cancel(), threading.Event()

    def watch() -> None:
        wait_s = RELAY_LOOK_S * (1 + client % 10) / 10  # not all of a thousand clients at once
        while not sent.wait(wait_s):
            wait_s = RELAY_LOOK_S
            with suppress(PlimsollError, BotoCoreError, ClientError):  # the next look may succeed
                if _is_over(records_of(settings).get(run_id), plan.index):
                    cancel.end()
                    return

    if plan.relay is not None:
        threading.Thread(target=watch, daemon=True).start()
    try:
        yield cancel
    finally:
        sent.set()


def _send_client_load(
    settings: ReachSettings,
    run_id: str,
    plan: StepPlan,
    client: int,
    cancel: plimsoll_engine.CancelToken,
) -> tuple[LoadReport, tuple[ServerLook, ...]]:
    record = records_of(settings).require_running(run_id)
    assert record.target is not None  # noqa: S101 - a step is planned for a target
    checked = check_request(files_of(settings, run_id).get(REQUEST, Request))
    target = connect_as_load_user(settings, record.target, run_id)
    beside = plan.background_of(client)
    if beside is not None:
        compiled = checked.background[beside.number]
        workload = compiled.engine_workload(load_number=beside.load_number)
        spans = list(list_span_loads(plan, beside, client, workload=workload, target=target))
        sent = [(span, send_load(span.spec, cancel=cancel)) for span in spans]
        return join_spans(plan, sent), ()
    of_phase = checked.of_phase(plan.phase)
    workload = of_phase.engine_workload(load_number=plan.load_number)
    spec = make_load_spec(plan, client, workload=workload, target=target)
    with ExitStack() as beside_load:
        tell = beside_load.enter_context(open_second_sender(run_id, plan, client))
        if client != WATCHES or not plan.fill_s:
            return send_and_sample(spec, plan, tell, cancel)
        numbered = of_phase.engine_workload(load_number=plan.fill_load_number)
        filling = beside_load.enter_context(fill_before(plan, spec, numbered))
        report, looks = send_and_sample(spec, plan, tell, cancel)
        return add_statements(report, filling.join()), looks


def add_statements(report: LoadReport, sent: int) -> LoadReport:
    """Add the statements of the load that filled the log, since the server counts them too."""
    return report.model_copy(update={"statements_sent": report.statements_sent + sent})


def _publish_client(result: ClientResult, plan: StepPlan) -> None:
    """Send the client's seconds to the deployment's metric sink.

    The result files are authoritative, so a failure is only logged.
    """
    published = publish_from_environment(list_client_points(result, plan))
    if published.problem:
        log_line(
            "WARNING",
            "metrics were not sent",
            correlation_id=result.run_id,
            step=result.step,
            client=result.client,
            problem=published.problem,
        )
