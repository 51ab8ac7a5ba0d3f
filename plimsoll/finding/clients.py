"""The clients of a step as threads of this process: the engine sends, and Python waits."""

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event

from pydantic import TypeAdapter

import plimsoll_engine
from plimsoll.errors import ConnectionsRefusedError
from plimsoll.fleet.memory import memory_max_mib
from plimsoll.fleet.plan import load_spec
from plimsoll.model.engine import EngineTarget, EngineWorkload, LoadSpec
from plimsoll.model.engine_report import SecondReport
from plimsoll.model.fleet import ClientResult, FailedClient, StepPlan
from plimsoll.runs.sending import send_watched

LEAD_MS = 300  # from planning a step to its barrier, for its clients to connect
LEAD_MS_PER_CONNECTION = 3  # a login with TLS takes about 2 ms of a processor
_LOOK_S = 0.1

OnSecond = Callable[[int, Sequence[SecondReport]], None]  # which client, and its second
_SECONDS: TypeAdapter[tuple[SecondReport, ...]] = TypeAdapter(tuple[SecondReport, ...])


def barrier_epoch_ms(connections: int) -> int:
    """Give the instant at which the clients of a step can all be there."""
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
        target: Where to.
        on_second: Called from the clients' threads.
        ended: Whoever sets it ends the load at once, from any thread.
    """
    tokens = [plimsoll_engine.CancelToken() for _ in range(plan.clients)]
    specs = [
        load_spec(plan, client, workload=workload, target=target) for client in range(plan.clients)
    ]
    with ThreadPoolExecutor(plan.clients) as pool:
        answers = [
            pool.submit(_run, plan, client, spec, on_second, tokens[client])
            for client, spec in enumerate(specs)
        ]
        waiting = set(answers)
        try:
            while waiting and not ended.is_set():  # signals are handled between the waits
                waiting = wait(waiting, timeout=_LOOK_S).not_done
        finally:  # a second Ctrl-C comes from here too: no load goes on behind it
            for token in tokens if waiting else ():
                token.cancel()
    outcomes = [answer.result() for answer in answers]
    results = [outcome for outcome in outcomes if isinstance(outcome, ClientResult)]
    return results, [outcome for outcome in outcomes if isinstance(outcome, FailedClient)]


def _run(
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
        report, looks = send_watched(spec, plan, tell, token)
    except (plimsoll_engine.EngineError, ConnectionsRefusedError) as error:
        return FailedClient(client=client, error=type(error).__name__, cause=str(error))
    return ClientResult(
        run_id="",
        step=plan.index,
        client=client,
        invoked_epoch_ms=invoked_ms,
        cold_start=False,
        memory_max_mib=memory_max_mib(),
        report=report,
        looks=looks,
    )
