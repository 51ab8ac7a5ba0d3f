"""The twin's run of a canary's request, with which the canary's own is compared."""

from pathlib import Path

from plimsoll.aws import clients
from plimsoll.canary.place import Teller
from plimsoll.errors import PlimsollError
from plimsoll.local.home import twin_home
from plimsoll.local.runner import LocalRun
from plimsoll.local.twin import LocalTwin
from plimsoll.model.request import Request
from plimsoll.model.results import RunResult
from plimsoll.report.folder import RESULT, read_model


def run_on_twin(request: Request, folder: Path, teller: Teller) -> RunResult:
    """Run a request on one machine, as `plimsoll run --local` does; its files go to a folder.

    Raises:
        PlimsollError: It failed: where it cannot be run, nothing has to be deployed.
    """
    try:
        with twin_home([request]) as home, LocalTwin(home) as twin:
            run = LocalRun(twin, request)
            run.wait(teller.show)
            run.save(folder)
    finally:
        clients.through(None)
    result = read_model(folder / RESULT, RunResult)
    if result.capacity is None:
        why = result.failure.cause if result.failure else result.state
        raise PlimsollError(f"the run fails on this machine already: {why}")
    return result
