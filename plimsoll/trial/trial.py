"""The course of a canary: deploy, run, check, destroy. Whatever was created is always removed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll import words
from plimsoll.client.remote_runs import POLL_S, RemoteWatcher, fetch_result
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
from plimsoll.report.words import name_limit
from plimsoll.trial.place import Left, Place, Teller
from plimsoll.workflow.status import Snapshot

# The budget: refused if the quote exceeds it; it also limits the time.


# one zone, us-east-1: https://aws.amazon.com/privatelink/pricing/ (2026-11-21)
DEPLOYMENT_USD_PER_HOUR = 0.01
DEPLOYING_MOST_S = 1800.0
# Lambda's network interfaces vanish 20 to 40 minutes after the functions
DESTROYING_MOST_S = 3600.0
_FIELD = ("--budget-usd",)


@dataclass(frozen=True)
class Allowance:
    """What a canary may spend.

    Attributes:
        request: The run, with its own part of the budget, which the service enforces.
        expected_usd: The expected total cost, from the quote.
        most_usd: The total cost at the run's time limit, from the quote.
        lasts_s: The seconds after which everything is stopped and destroyed; removing is paid for
            too.
    """

    request: Request
    expected_usd: float
    most_usd: float
    lasts_s: float


def divide_canary_budget(request: Request, quote: Quote, budget_usd: float) -> Allowance:
    """Divide a budget between the run and its deployment.

    Args:
        request: The run.
        quote: The quote of the run.
        budget_usd: The budget for everything, in US dollars.

    Raises:
        UsageError: The quote exceeds the budget or has no sum, or some charges are counted only
            afterwards.
    """
    require_countable(budget_usd, quote, path=_FIELD)
    if quote.usd is None:
        lacking = f"{', '.join(quote.missing)} in {quote.region}"
        raise UsageError(
            Complaint(_FIELD, f"cannot be enforced: no price is known for {lacking}", budget_usd)
        )
    standing_s = DEPLOYING_MOST_S + DESTROYING_MOST_S
    most = quote.usd.most + estimate_deployment_usd(quote.time_s.most + standing_s)
    if most > budget_usd:
        problem = (
            f"{words.format_usd(budget_usd)} is less than the {words.format_usd(most)} that it may"
            " cost"
        )
        enough = Range(least=round(most + 0.005, 2))
        raise UsageError(Complaint(_FIELD, problem, budget_usd, enough))
    target_usd_per_s = (quote.target_usd_per_hour or 0.0) / 3600
    # clients and calls, at their highest
    by_load = quote.usd.most - target_usd_per_s * quote.time_s.most
    removing_s = STACK_DELETION.most_s + DESTROYING_MOST_S
    removing_usd = target_usd_per_s * STACK_DELETION.most_s + estimate_deployment_usd(removing_s)
    per_s = target_usd_per_s + DEPLOYMENT_USD_PER_HOUR / 3600
    lasts_s = (budget_usd - by_load - removing_usd) / per_s
    return Allowance(
        request=request.model_copy(
            update={"budget_usd": budget_usd - estimate_deployment_usd(lasts_s + removing_s)}
        ),
        expected_usd=quote.usd.expected
        + estimate_deployment_usd(quote.time_s.expected + standing_s),
        most_usd=most,
        lasts_s=lasts_s,
    )


def estimate_deployment_usd(standing_s: float) -> float:
    """Estimate the deployment's cost for a time at list prices, in US dollars."""
    return DEPLOYMENT_USD_PER_HOUR * standing_s / 3600


# The canary's assertions about its run, each with what was found.


ANSWERS: tuple[Verdict, ...] = ("KNEE", "PLATEAU", "LOWER_BOUND", "BELOW_FIRST_STEP")
METRICS = ("read_iops", "write_iops", "queue", "cpu_percent")  # every RDS target has these


class Finding(Model):
    """One assertion and its outcome."""

    what: str
    holds: bool
    seen: str


def check_result(result: RunResult) -> tuple[Finding, ...]:
    """Check the result of a run, whatever its figures."""
    return (
        _check_verdict(result),
        _check_limiting_resource(result),
        _check_metrics(result),
        _check_deletion(result),
    )


def check_nothing_left(what: str, left: Sequence[Left]) -> Finding:
    """Check that nothing is left of something.

    Args:
        what: The thing, in words.
        left: What was still found after waiting as long as AWS may need.
    """
    names = ", ".join(each.what for each in left)
    seen = f"still there: {names}" if left else "nothing bears its tag, no stack of it is listed"
    return Finding(what=f"nothing is left of {what}", holds=not left, seen=seen)


def _check_verdict(result: RunResult) -> Finding:
    capacity = result.capacity
    holds = capacity is not None and capacity.verdict in ANSWERS
    if capacity is not None:
        seen = capacity.sentence
    else:
        seen = f"{result.state}: {result.failure.cause if result.failure else 'no verdict'}"
    return Finding(what="the verdict is an answer", holds=holds, seen=seen)


def _check_limiting_resource(result: RunResult) -> Finding:
    limiting = result.limiting
    if limiting is None:
        return Finding(what="what limits is named", holds=False, seen="nothing was concluded")
    evidence = "; ".join(limiting.evidence[:1])
    return Finding(
        what="what limits is named",
        holds=limiting.resource != "unknown",
        seen=f"{name_limit(limiting)} ({evidence})",
    )


def _check_metrics(result: RunResult) -> Finding:
    measured = [step for step in result.steps if not step.step.void]
    lacking = [
        f"step {step.plan.index}: {lack}"
        for step in measured
        if (lack := _describe_missing_metrics(step))
    ]
    seen = "; ".join(lacking) or f"of {words.format_count(len(measured), 'step')}"
    return Finding(
        what="the target's metrics are there", holds=bool(measured) and not lacking, seen=seen
    )


def _describe_missing_metrics(step: StepResult) -> str:
    if step.target is None or step.target.points == 0:
        return "no point of CloudWatch"
    lacking = [name for name in METRICS if getattr(step.target, name) is None]
    return f"no {', '.join(lacking)}" if lacking else ""


def _check_deletion(result: RunResult) -> Finding:
    deleted = result.moments.deleted
    seen = f"at {words.format_time_of_day(deleted)}" if deleted else "its deletion was never seen"
    return Finding(what="the target was seen deleted", holds=deleted is not None, seen=seen)


# RDS refuses to delete an instance while it is being created: a run's end may wait for that
STOPPING_MOST_S = STACK_CREATION.most_s + STACK_DELETION.most_s
TAG_PATIENCE_S = 900.0  # deleted resources stay listed under their tags for some minutes
_LOOK_EVERY_S = 2.0
_RUNS_MOST = 50
_FAILURES = (PlimsollError, BotoCoreError, ClientError, OSError)

Check = Callable[[Request], None]  # raises PlimsollError if the request would fail


@dataclass
class Trial:
    """The outcome of a canary.

    Attributes:
        findings: The assertions and their outcomes.
        result: The result of its run; None if there is none.
        problem: The reason why it did not finish; None if it did.
        interrupted: Whether Ctrl-C ended it.
        left: The things that it could not delete.
        took_s: The seconds from the first creation to the last deletion.
    """

    findings: list[Finding] = field(default_factory=list)
    result: RunResult | None = None
    problem: str | None = None
    interrupted: bool = False
    left: list[Left] = field(default_factory=list)
    took_s: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether all assertions hold and nothing is left."""
        held = bool(self.findings) and all(finding.holds for finding in self.findings)
        return held and self.problem is None and not self.interrupted and not self.left


def run_canary(
    place: Place,
    request: Request,
    *,
    teller: Teller,
    lasts_s: float,
    checks: Sequence[Check] = (),
    tag_patience_s: float = TAG_PATIENCE_S,
) -> Trial:
    """Deploy, run a request, check its result, and destroy.

    Args:
        place: The place to deploy to.
        request: The run.
        teller: The receiver of progress messages.
        lasts_s: The seconds after which it is stopped and destroyed.
        checks: Checks that run before anything is created.
        tag_patience_s: How long deleted resources may stay listed, in seconds.

    Raises:
        PlimsollError: A check failed, or the place is not free; nothing was created.
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
        trial.result = _run_request(service, request, hasty)
        trial.findings += check_result(trial.result)
        run_id = trial.result.run_id
        left = _wait_until_nothing_left(
            lambda: place.list_left_of_run(run_id), "the target", tag_patience_s, hasty
        )
        trial.findings.append(check_nothing_left("the target", left))
    except _FAILURES as error:
        trial.problem = str(error)
        teller.say(f"failed: {error}")
    except KeyboardInterrupt:
        trial.interrupted = True
        teller.say(
            "interrupted: stopping the run and destroying what was made"
            " (Ctrl-C again leaves it and lists it)"
        )
    _remove_everything(trial, place, services, teller, tag_patience_s)
    trial.took_s = time.monotonic() - began
    return trial


class _Deadline:
    """A teller that raises when the time that the budget allows is over."""

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
            lasts = words.format_duration(self._lasts_s)
            raise BudgetPassedError(f"the {lasts} that the budget buys are over")


def _run_request(service: Service, request: Request, teller: Teller) -> RunResult:
    run_id = service.submit(request, key="canary").run_id
    teller.say(f"the run {run_id} is submitted")
    RemoteWatcher(service, run_id).wait(teller.show)
    return fetch_result(service, run_id)[0]


def _remove_everything(
    trial: Trial, place: Place, services: Sequence[Service], teller: Teller, tag_patience_s: float
) -> None:
    """Stop runs, destroy the deployment, and check what is left; a second Ctrl-C ends that."""
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
        # what was destroyed without an error may stay listed for a while
        patience_s = 0.0 if problems else tag_patience_s
        left = _wait_until_nothing_left(
            place.list_left_of_deployment, "the deployment", patience_s, teller
        )
        trial.findings.append(check_nothing_left("the deployment", left))
        trial.left += left
    except KeyboardInterrupt:
        trial.interrupted = True
        trial.left += place.list_left_of_deployment()
    except _FAILURES as error:
        problems.append(str(error))
    if problems:
        trial.problem = "; ".join([*([trial.problem] if trial.problem else []), *problems])


def _stop_runs(services: Sequence[Service], teller: Teller) -> None:
    """Stop every run that has not ended, and wait until its target is gone.

    It stops all runs of the deployment: if a submission got no reply, its run's id is unknown here.

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
                    waited = words.format_duration(STOPPING_MOST_S)
                    raise TeardownError(f"the target of {run.run_id} is not gone after {waited}")
                time.sleep(POLL_S)
            teller.show(now)


def _wait_until_nothing_left(
    look: Callable[[], list[Left]], what: str, patience_s: float, teller: Teller
) -> list[Left]:
    """Wait until nothing is left of something, or patience is over; returns what is left."""
    began = time.monotonic()
    while (left := look()) and time.monotonic() - began < patience_s:
        number = words.format_count(len(left), "thing is", "things are")
        teller.status(f"waiting until nothing is left of {what}: {number} still listed")
        time.sleep(_LOOK_EVERY_S)
    return left
