"""The clients of a step, as threads of this process. The engine sends; Python only waits."""

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event

from pydantic import TypeAdapter

import plimsoll_engine
from plimsoll.errors import ConnectionsRefusedError, PlimsollError
from plimsoll.fleet.plan import make_load_spec
from plimsoll.machine import read_peak_memory_mib
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.engine.asked import EngineTarget, EngineWorkload, LoadSpec
from plimsoll.model.run.fleet import ClientResult, FailedClient, StepPlan
from plimsoll.process_limits import name_limit_in
from plimsoll.workflow.client import send_and_sample

LEAD_MS = 300  # time from planning a step to its barrier, in which its clients connect
LEAD_MS_PER_CONNECTION = 3  # a login with TLS takes about 2 ms of a processor
LOOK_S = 0.1

OnSecond = Callable[[int, Sequence[SecondReport]], None]  # client number, its last second
_SECONDS: TypeAdapter[tuple[SecondReport, ...]] = TypeAdapter(tuple[SecondReport, ...])


def compute_local_barrier_ms(connections: int) -> int:
    """Return the moment at which all clients of a step can be ready, in ms of the epoch."""
    return round(time.time() * 1000) + LEAD_MS + connections * LEAD_MS_PER_CONNECTION


def run_clients(
    plan: StepPlan,
    workload: EngineWorkload,
    target: EngineTarget,
    *,
    on_second: OnSecond,
    ended: Event,
) -> tuple[list[ClientResult], list[FailedClient]]:
    """Run a step's clients to their end, or until `ended` is set.

    Args:
        plan: The step.
        workload: What the clients send.
        target: The database that they load.
        on_second: Called each second from each client's thread.
        ended: Event that stops the load. Any thread may set it.
    """
    tokens = [plimsoll_engine.CancelToken() for _ in range(plan.clients)]
    specs = [
        make_load_spec(plan, client, workload=workload, target=target)
        for client in range(plan.clients)
    ]
    with ThreadPoolExecutor(plan.clients) as pool:
        answers = [
            pool.submit(_run_client, plan, client, spec, on_second, tokens[client])
            for client, spec in enumerate(specs)
        ]
        waiting = set(answers)
        try:
            while waiting and not ended.is_set():  # signals are handled between the waits
                waiting = wait(waiting, timeout=LOOK_S).not_done
        finally:  # also reached at a second Ctrl-C: the load must not go on in the background
            for token in tokens if waiting else ():
                token.cancel()
    outcomes = [answer.result() for answer in answers]
    results = [outcome for outcome in outcomes if isinstance(outcome, ClientResult)]
    return results, [outcome for outcome in outcomes if isinstance(outcome, FailedClient)]


def _run_client(
    plan: StepPlan,
    client: int,
    spec: LoadSpec,
    on_second: OnSecond,
    token: plimsoll_engine.CancelToken,
) -> ClientResult | FailedClient:
    invoked_ms = round(time.time() * 1000)

    def tell(text: str) -> None:
        on_second(client, _SECONDS.validate_python(json.loads(text)))

    try:
        report, looks = send_and_sample(spec, plan, tell, token)
    except (plimsoll_engine.EngineError, ConnectionsRefusedError) as error:
        cause = name_limit_in(str(error))
        return FailedClient(client=client, error=type(error).__name__, cause=cause)
    return ClientResult(
        run_id="",
        step=plan.index,
        client=client,
        invoked_epoch_ms=invoked_ms,
        cold_start=False,
        memory_max_mib=read_peak_memory_mib(),
        report=report,
        looks=looks,
    )


# Ctrl-C and SIGTERM end a load early and keep what it has measured.


INTERRUPTED = "interrupted"
_BOTH = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def end_on_signals(
    end: Callable[[], None], numbers: Sequence[signal.Signals] = _BOTH
) -> Iterator[None]:
    """Call `end` at the first signal; a second one is handled as before.

    Only the main thread gets signals: in any other thread this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def interrupt(*_: object) -> None:
        restore()
        end()

    for number in numbers:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        restore()


@contextmanager
def cancel_on_interrupt() -> Iterator[plimsoll_engine.CancelToken]:
    """Yield a token that Ctrl-C cancels.

    A shell's background processes ignore SIGINT by default; this one does not. Python can lose the
    exception of a signal handler while it frees objects, so the token is cancelled as well.
    """
    token = plimsoll_engine.CancelToken()
    interrupted = False

    def interrupt() -> None:
        nonlocal interrupted
        interrupted = True
        token.cancel()
        raise KeyboardInterrupt

    with end_on_signals(interrupt, (signal.SIGINT,)):
        try:
            yield token
        except PlimsollError:
            if interrupted:
                raise KeyboardInterrupt from None
            raise
