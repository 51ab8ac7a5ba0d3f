"""A canary's course: deploy, run, assert, destroy; whatever happens, what was made is removed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll import words
from plimsoll.canary.findings import Finding, findings_of, nothing_left
from plimsoll.canary.place import Left, Place, Teller
from plimsoll.client.fetching import fetch_result
from plimsoll.client.remote_watch import POLL_S, RemoteWatcher
from plimsoll.client.service_client import Service
from plimsoll.errors import BudgetPassedError, PlimsollError, TeardownError
from plimsoll.model.request import Request
from plimsoll.model.results import RunResult
from plimsoll.model.timings import STACK_CREATION, STACK_DELETION
from plimsoll.runs.run_status import Snapshot

# RDS refuses to delete an instance while it makes it: a run's end may wait for that
STOPPING_MOST_S = STACK_CREATION.most_s + STACK_DELETION.most_s
TAG_PATIENCE_S = 900.0  # what is deleted stays listed under its tags for some minutes
_LOOK_EVERY_S = 2.0
_RUNS_MOST = 50
_FAILURES = (PlimsollError, BotoCoreError, ClientError, OSError)

Check = Callable[[Request], None]  # raises a PlimsollError where a run of a request would fail


@dataclass
class Trial:
    """What a canary came to.

    Attributes:
        findings: What was asserted.
        result: Of its run; None: it came to none.
        problem: Why it did not come to its end; None: it did.
        interrupted: Whether Ctrl-C ended it.
        left: What it could not delete.
        took_s: Seconds from the first thing that was made to the last one that was deleted.
    """

    findings: list[Finding] = field(default_factory=list)
    result: RunResult | None = None
    problem: str | None = None
    interrupted: bool = False
    left: list[Left] = field(default_factory=list)
    took_s: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether everything that was asserted holds, and nothing is left."""
        held = bool(self.findings) and all(finding.holds for finding in self.findings)
        return held and self.problem is None and not self.interrupted and not self.left


def try_out(
    place: Place,
    request: Request,
    *,
    teller: Teller,
    lasts_s: float,
    checks: Sequence[Check] = (),
    tag_patience_s: float = TAG_PATIENCE_S,
) -> Trial:
    """Deploy, run a request, assert, and destroy.

    Args:
        place: Where.
        request: The run.
        teller: Who is told what happens.
        lasts_s: After so many seconds it is stopped and destroyed.
        checks: What is looked at before anything is made.
        tag_patience_s: Until what is deleted may no longer be listed.

    Raises:
        PlimsollError: A check failed, or the place is not free; nothing has been made.
    """
    place.require_free()
    for check in checks:
        check(request)
    trial, began = Trial(), time.monotonic()
    services: list[Service] = []
    hasty = _Deadline(teller, lasts_s)
    try:
        service = place.deploy(hasty)
        services.append(service)
        trial.result = _run(service, request, hasty)
        trial.findings += findings_of(trial.result)
        run_id = trial.result.run_id
        left = _await_nothing(
            lambda: place.left_of_run(run_id), "the target", tag_patience_s, hasty
        )
        trial.findings.append(nothing_left("the target", left))
    except _FAILURES as error:
        trial.problem = str(error)
        teller.say(f"failed: {error}")
    except KeyboardInterrupt:
        trial.interrupted = True
        teller.say(
            "interrupted: stopping the run and destroying what was made"
            " (Ctrl-C again: leaves it, and says what it is)"
        )
    _remove(trial, place, services, teller, tag_patience_s)
    trial.took_s = time.monotonic() - began
    return trial


class _Deadline:
    """A teller that ends what it is told of when the time that the budget buys is over."""

    def __init__(self, teller: Teller, lasts_s: float) -> None:
        self._teller = teller
        self._lasts_s = lasts_s
        self._ends = time.monotonic() + lasts_s
        self.say = teller.say

    def status(self, text: str) -> None:
        self._teller.status(text)
        self._look()

    def show(self, now: Snapshot) -> None:
        self._teller.show(now)
        self._look()

    def _look(self) -> None:
        if time.monotonic() > self._ends:
            lasts = words.duration(self._lasts_s)
            raise BudgetPassedError(f"the {lasts} that the budget buys are over")


def _run(service: Service, request: Request, teller: Teller) -> RunResult:
    run_id = service.submit(request, key="canary").run_id
    teller.say(f"the run {run_id} is submitted")
    RemoteWatcher(service, run_id).wait(teller.show)
    return fetch_result(service, run_id)[0]


def _remove(
    trial: Trial, place: Place, services: Sequence[Service], teller: Teller, tag_patience_s: float
) -> None:
    """Stop what runs, destroy the deployment, and look; a second Ctrl-C ends that."""
    problems: list[str] = []
    acts: tuple[Callable[[], None], ...] = (
        lambda: _stop_runs(services, teller),
        lambda: place.destroy(teller),
    )
    try:
        for act in acts:
            try:
                act()
            except _FAILURES as error:
                problems.append(str(error))
                teller.say(f"failed: {error}")
        # what is still listed of what was destroyed without a complaint may only be late to go
        patience_s = 0.0 if problems else tag_patience_s
        left = _await_nothing(place.left_of_deployment, "the deployment", patience_s, teller)
        trial.findings.append(nothing_left("the deployment", left))
        trial.left += left
    except KeyboardInterrupt:
        trial.interrupted = True
        trial.left += place.left_of_deployment()
    except _FAILURES as error:
        problems.append(str(error))
    if problems:
        trial.problem = "; ".join([*([trial.problem] if trial.problem else []), *problems])


def _stop_runs(services: Sequence[Service], teller: Teller) -> None:
    """Stop every run that has not ended, and wait until its target is gone.

    All that there are, for one whose submission was not answered has no id here.

    Raises:
        TeardownError: A target is not gone in time.
    """
    for service in services:
        for run in service.runs(most=_RUNS_MOST):
            if run.state.ended:
                continue
            teller.say(f"stopping the run {run.run_id}, and waiting until its target is gone")
            service.stop(run.run_id)
            deadline = time.monotonic() + STOPPING_MOST_S
            watcher = RemoteWatcher(service, run.run_id)
            while not (now := watcher.look()).record.state.ended:
                teller.show(now)
                if time.monotonic() > deadline:
                    waited = words.duration(STOPPING_MOST_S)
                    raise TeardownError(f"the target of {run.run_id} is not gone after {waited}")
                time.sleep(POLL_S)
            teller.show(now)


def _await_nothing(
    look: Callable[[], list[Left]], what: str, patience_s: float, teller: Teller
) -> list[Left]:
    """Look until nothing is left of something, or patience is over; gives what is left then."""
    began = time.monotonic()
    while (left := look()) and time.monotonic() - began < patience_s:
        number = words.plural(len(left), "thing is", "things are")
        teller.status(f"waiting until nothing is left of {what}: {number} still listed")
        time.sleep(_LOOK_EVERY_S)
    return left
