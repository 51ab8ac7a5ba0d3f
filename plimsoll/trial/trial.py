"""A canary's course: deploy, run, assert, destroy; whatever happens, what was made is removed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll import words
from plimsoll.client.fetching import fetch_result
from plimsoll.client.remote_watch import POLL_S, RemoteWatcher
from plimsoll.client.service_client import Service
from plimsoll.complaints import Complaint, Range
from plimsoll.errors import BudgetPassedError, PlimsollError, TeardownError, UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Verdict
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import Quote
from plimsoll.model.run.results import RunResult, StepResult
from plimsoll.model.timings import STACK_CREATION, STACK_DELETION
from plimsoll.quoting.budget import require_countable
from plimsoll.report.words import limit_cell
from plimsoll.trial.place import Left, Place, Teller
from plimsoll.workflow.status import Snapshot

# The canary's budget: refused where the quote exceeds it, and the time that it buys. Pure.


# one zone, us-east-1: https://aws.amazon.com/privatelink/pricing/ (2026-11-21)
DEPLOYMENT_USD_PER_HOUR = 0.01
DEPLOYING_MOST_S = 1800.0
DESTROYING_MOST_S = 3600.0  # the functions' network interfaces go 20 to 40 minutes after them
_FIELD = ("--budget-usd",)


@dataclass(frozen=True)
class Allowance:
    """What a canary may spend.

    Attributes:
        request: The run, which holds its own part of the budget on the service.
        expected_usd: Of all, by the quote.
        most_usd: Of all, by the quote: at the run's time limit.
        lasts_s: After so many seconds all is stopped and destroyed; that is paid for, too.
    """

    request: Request
    expected_usd: float
    most_usd: float
    lasts_s: float


def allow(request: Request, quote: Quote, budget_usd: float) -> Allowance:
    """Divide a budget between the run and its deployment.

    Args:
        request: The run.
        quote: Of the request.
        budget_usd: Of everything, in dollars.

    Raises:
        UsageError: The quote exceeds it or has no sum, or what is charged is counted afterwards.
    """
    require_countable(budget_usd, quote, path=_FIELD)
    if quote.usd is None:
        lacking = f"{', '.join(quote.missing)} in {quote.region}"
        raise UsageError(
            Complaint(_FIELD, f"cannot be held, for no price is known for {lacking}", budget_usd)
        )
    standing_s = DEPLOYING_MOST_S + DESTROYING_MOST_S
    most = quote.usd.most + deployment_usd(quote.time_s.most + standing_s)
    if most > budget_usd:
        problem = f"{words.usd(budget_usd)} is less than the {words.usd(most)} that it may cost"
        enough = Range(least=round(most + 0.005, 2))
        raise UsageError(Complaint(_FIELD, problem, budget_usd, enough))
    target_usd_per_s = (quote.target_usd_per_hour or 0.0) / 3600
    by_load = quote.usd.most - target_usd_per_s * quote.time_s.most  # clients, calls: their most
    removing_s = STACK_DELETION.most_s + DESTROYING_MOST_S
    removing_usd = target_usd_per_s * STACK_DELETION.most_s + deployment_usd(removing_s)
    per_s = target_usd_per_s + DEPLOYMENT_USD_PER_HOUR / 3600
    lasts_s = (budget_usd - by_load - removing_usd) / per_s
    return Allowance(
        request=request.model_copy(
            update={"budget_usd": budget_usd - deployment_usd(lasts_s + removing_s)}
        ),
        expected_usd=quote.usd.expected + deployment_usd(quote.time_s.expected + standing_s),
        most_usd=most,
        lasts_s=lasts_s,
    )


def deployment_usd(standing_s: float) -> float:
    """Estimate what the deployment costs by list prices while it stands, in dollars."""
    return DEPLOYMENT_USD_PER_HOUR * standing_s / 3600


# What a canary asserts of its run, each with what was seen. Pure.


ANSWERS: tuple[Verdict, ...] = ("KNEE", "PLATEAU", "LOWER_BOUND", "BELOW_FIRST_STEP")
METRICS = ("read_iops", "write_iops", "queue", "cpu_percent")  # of every RDS target


class Finding(Model):
    """One thing that was asserted."""

    what: str
    holds: bool
    seen: str


def findings_of(result: RunResult) -> tuple[Finding, ...]:
    """Assert what the result of a run has to say, whatever its figures."""
    return (_verdict(result), _limit(result), _metrics(result), _deleted(result))


def nothing_left(what: str, left: Sequence[Left]) -> Finding:
    """Assert that nothing is left of something.

    Args:
        what: Of what, in words.
        left: What was found after as much patience as AWS may need.
    """
    names = ", ".join(each.what for each in left)
    seen = f"still there: {names}" if left else "nothing bears its tag, no stack of it is listed"
    return Finding(what=f"nothing is left of {what}", holds=not left, seen=seen)


def _verdict(result: RunResult) -> Finding:
    capacity = result.capacity
    holds = capacity is not None and capacity.verdict in ANSWERS
    if capacity is not None:
        seen = f"{capacity.verdict}: {capacity.summary}"
    else:
        seen = f"{result.state}: {result.failure.cause if result.failure else 'no verdict'}"
    return Finding(what="the verdict is an answer", holds=holds, seen=seen)


def _limit(result: RunResult) -> Finding:
    limiting = result.limiting
    if limiting is None:
        return Finding(what="what limits is named", holds=False, seen="nothing was concluded")
    evidence = "; ".join(limiting.evidence[:1])
    return Finding(
        what="what limits is named",
        holds=limiting.resource != "unknown",
        seen=f"{limit_cell(limiting)} ({evidence})",
    )


def _metrics(result: RunResult) -> Finding:
    measured = [step for step in result.steps if not step.step.void]
    lacking = [f"step {step.plan.index}: {lack}" for step in measured if (lack := _lacks(step))]
    seen = "; ".join(lacking) or f"of {words.plural(len(measured), 'step')}"
    return Finding(
        what="the target's metrics are there", holds=bool(measured) and not lacking, seen=seen
    )


def _lacks(step: StepResult) -> str:
    if step.target is None or step.target.points == 0:
        return "no point of CloudWatch"
    lacking = [name for name in METRICS if getattr(step.target, name) is None]
    return f"no {', '.join(lacking)}" if lacking else ""


def _deleted(result: RunResult) -> Finding:
    deleted = result.moments.deleted
    seen = f"at {words.time_of_day(deleted)}" if deleted else "its deletion was never seen"
    return Finding(what="the target was seen deleted", holds=deleted is not None, seen=seen)


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
