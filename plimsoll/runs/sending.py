"""A client's load, and the looks at its target meanwhile."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import plimsoll_engine
from plimsoll.errors import ConnectionsRefusedError
from plimsoll.model.databases import protocol_facts
from plimsoll.model.engine import LoadSpec
from plimsoll.model.engine_report import LoadReport
from plimsoll.model.fleet import ServerLook, StepPlan
from plimsoll.runs.watched import watched

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
