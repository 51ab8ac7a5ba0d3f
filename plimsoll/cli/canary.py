"""`plimsoll canary`: tests a whole deployment, from `cdk deploy` to `cdk destroy`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import botocore.session
import click

from plimsoll import words
from plimsoll.cli.options import NumberRange
from plimsoll.cli.output import make_table, out_option, print_figures, refuse_used_folder
from plimsoll.cli.progress import RunProgress
from plimsoll.cli.service_calls import json_option
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.files import write_whole
from plimsoll.packaged import find_packaged_folder

if TYPE_CHECKING:
    from plimsoll.requests.checked_request import CheckedRequest
    from plimsoll.trial.comparison import Row
    from plimsoll.trial.place import Place
    from plimsoll.trial.trial import Allowance, Check, Trial


REQUEST = "canary.yaml"
_LOCAL_WARMUP_S, _LOCAL_WINDOW_S = 2, 6  # one machine has a metric point each second
_LOCAL_LASTS_S = 1800.0


@click.command()
@click.option("--local", is_flag=True, help="Run on this machine, without an AWS account.")
@click.option(
    "--profile",
    metavar="NAME",
    help="Profile of the AWS command line. Default: the one that it would use.",
)
@click.option(
    "--region",
    metavar="REGION",
    help="AWS region. Default: the one that the AWS command line would use.",
)
@click.option(
    "--budget-usd",
    type=NumberRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    help="Maximum cost of the whole canary, by list prices.",
)
@click.option("--yes", is_flag=True, help="Create everything without asking first.")
@out_option("Folder for results and logs", default="plimsoll-results/canary-*/")
@json_option
def canary(
    *,
    local: bool,
    profile: str | None,
    region: str | None,
    budget_usd: float,
    yes: bool,
    out: Path | None,
    as_json: bool,
) -> int:
    """Deploy Plimsoll under a name of its own, run its smallest request, assert, and destroy.

    First it shows what it will create and cost, and asks for confirmation. Then the request runs on
    this machine for comparison: if it fails, nothing is deployed. Everything created is deleted,
    also after a failure, a time-out or Ctrl-C; for what could not be deleted, the command that
    deletes it is shown. Exit code 1: an assertion does not hold, or something is left.
    """
    from plimsoll.cli.run_experiment import RESULTS

    if local and (profile or region):
        raise click.UsageError(
            "--local uses no AWS account, so --profile and --region do not apply"
        )
    folder = out or RESULTS / f"canary-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    refuse_used_folder(folder)
    from plimsoll.local.runner import interrupt_on_termination

    with interrupt_on_termination():
        if local:
            return _test_one_machine(folder.resolve(), as_json=as_json)
        with _choose_account(profile, region) as chosen:
            return _test_aws(
                folder.resolve(),
                profile=profile,
                region=chosen,
                budget_usd=budget_usd,
                yes=yes,
                as_json=as_json,
            )


def _test_one_machine(folder: Path, *, as_json: bool) -> int:
    from plimsoll.local.home import make_twin_home
    from plimsoll.local.twin import check_machine

    check_machine()
    from plimsoll.trial.on_one_machine import OnOneMachine

    checked = _read_smallest_request()
    load = checked.request.load.model_copy(
        update={"warmup_s": _LOCAL_WARMUP_S, "duration_s": _LOCAL_WINDOW_S}
    )
    checked = replace(checked, request=checked.request.model_copy(update={"load": load}))
    with make_twin_home([checked]) as home:
        place = OnOneMachine(home)
        return _run_and_compare(place, checked, folder, lasts_s=_LOCAL_LASTS_S, as_json=as_json)


def _test_aws(
    folder: Path, *, profile: str | None, region: str, budget_usd: float, yes: bool, as_json: bool
) -> int:
    from plimsoll.quoting.prices import read_builtin_prices
    from plimsoll.quoting.quotes import estimate_quote
    from plimsoll.trial.on_aws import OnAws, require_orderable
    from plimsoll.trial.trial import divide_canary_budget

    checked = _read_smallest_request()
    quote = estimate_quote(checked, read_builtin_prices())
    allowance = divide_canary_budget(checked.request, quote, budget_usd)
    place = OnAws(folder, region=region, profile=profile)
    place.require_free()
    require_orderable(checked.request)
    announce_cost(place.creates(), allowance, budget_usd)
    if not yes:
        _ask_confirmation()
    return _run_and_compare(
        place,
        replace(checked, request=allowance.request),
        folder,
        lasts_s=allowance.lasts_s,
        allowance=allowance,
        checks=[require_orderable],
        as_json=as_json,
    )


def _run_and_compare(
    place: Place,
    checked: CheckedRequest,
    folder: Path,
    *,
    lasts_s: float,
    as_json: bool,
    allowance: Allowance | None = None,
    checks: Sequence[Check] = (),
) -> int:
    """Run the request here, then there; compare and print."""
    folder.mkdir(parents=True, exist_ok=True)
    from plimsoll.trial.comparison import list_differences, run_on_twin
    from plimsoll.trial.trial import run_canary

    request = checked.request
    with CanaryProgress(request) as progress:
        progress.say("the request on this machine, to compare with")
        reference = run_on_twin(checked, folder / "reference", progress)
    with CanaryProgress(request) as progress:
        progress.say(f"the canary on {place.name}")
        trial = run_canary(place, request, teller=progress, lasts_s=lasts_s, checks=checks)
    rows = list_differences(trial.result, reference) if trial.result else ()
    if trial.result:
        write_whole(folder / "result.json", trial.result.model_dump_json(indent=2))
    if as_json:
        whole = dump_trial(trial, place.name, rows, allowance)
        click.echo(json.dumps(whole, indent=2))
    else:
        cost = describe_costs(trial, allowance)
        print_trial(
            trial, ("the canary" if allowance is None else place.name, "the twin"), rows, cost
        )
        click.echo(f"Files: {folder}")
    if trial.interrupted:
        return 130
    return 0 if trial.passed else 1


def _read_smallest_request() -> CheckedRequest:
    from plimsoll.requests.experiment_file import read_file

    asked = read_file(find_packaged_folder("scenarios") / REQUEST)
    assert isinstance(asked, dict)  # noqa: S101 - the file is ours
    (checked,) = asked.values()
    return checked


def _ask_confirmation() -> None:
    """Ask for confirmation.

    Raises:
        UsageError: The command is not interactive, so nobody can be asked.
    """
    if not sys.stdin.isatty():
        raise UsageError("--yes: is needed without a terminal to confirm on; nothing was created")
    if not click.confirm("Deploy, run and destroy this?", err=True):
        raise PlimsollError("nothing was created")


@contextmanager
def _choose_account(profile: str | None, region: str | None) -> Iterator[str]:
    """Choose profile and region for every AWS call of this process; yield the region.

    Raises:
        UsageError: No region is chosen, or the profile does not exist.
    """
    from botocore.exceptions import BotoCoreError

    from plimsoll.aws import clients

    session = botocore.session.Session(profile=profile)
    try:
        configured = session.get_config_variable("region")
    except BotoCoreError as error:
        raise UsageError(f"--profile: {error}") from None
    chosen = region or os.environ.get("AWS_REGION") or configured
    if not chosen:
        raise UsageError("--region: no region is set: give it, or set AWS_REGION")
    given = {"AWS_REGION": chosen, "AWS_DEFAULT_REGION": chosen}
    if profile is not None:
        given["AWS_PROFILE"] = profile
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    clients.use_factory(None)
    try:
        yield chosen
    finally:
        clients.use_factory(None)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


# Output: what will be created and cost, what was found, what differs, what is left.


_TOLD_EVERY_S = 10.0


class CanaryProgress(RunProgress):
    """Shows what is waited for; without a terminal, as a line every ten seconds."""

    _told_at = 0.0

    def status(self, text: str) -> None:
        """Show what is under way."""
        super().status(text)
        if self._status is None and time.monotonic() - self._told_at > _TOLD_EVERY_S:
            self._told_at = time.monotonic()
            self.say(f"waiting: {text}")


def announce_cost(creates: Sequence[str], allowance: Allowance, budget_usd: float) -> None:
    """Announce on standard error what will be created, and its cost by our price list."""
    lines = [
        *creates,
        f"{_describe_predicted_cost(allowance)}; the budget is {words.format_usd(budget_usd)}",
        f"after {words.format_duration(allowance.lasts_s)} it is stopped and destroyed in any case",
    ]
    print(*lines, sep="\n", file=sys.stderr)


def print_trial(
    trial: Trial, names: tuple[str, str], rows: Sequence[Row], cost: Sequence[str]
) -> None:
    """Print the outcome on standard output."""
    from rich.console import Console

    console = Console()
    for finding in trial.findings:
        mark = "[green]yes[/]" if finding.holds else "[bold red]NO [/]"
        console.print(f"{mark}  {finding.what}: ", end="", highlight=False)
        console.print(finding.seen, markup=False, highlight=False, soft_wrap=True)
    if rows:
        here, there = names
        console.print(
            f"\nWhat differs between {here} and {there} (the same request, on this machine):"
        )
        table = make_table("field", here, there)
        for row in rows:
            table.add_row(row.field, row.here, row.there)
        print_figures(console, table)
    for line in cost:
        console.print(line, highlight=False, soft_wrap=True)
    if trial.problem is not None:
        console.print(f"It did not finish: {trial.problem}", markup=False, soft_wrap=True)
    for left in trial.left:
        console.print(f"NOT DELETED: {left.what}: {left.command}", markup=False, soft_wrap=True)
    verdict = "[bold green]passed[/]" if trial.passed else "[bold red]failed[/]"
    console.print(f"canary: {verdict} after {words.format_duration(trial.took_s)}", highlight=False)


def describe_costs(trial: Trial, allowance: Allowance | None) -> list[str]:
    """Describe the cost by our price list; it is never measured."""
    from plimsoll.trial.trial import estimate_deployment_usd

    if allowance is None:
        return ["cost: nothing; one machine"]
    lines = [_describe_predicted_cost(allowance)]
    cost = trial.result.cost if trial.result else None
    if cost is not None and cost.usd is not None:
        whole = cost.usd + estimate_deployment_usd(trial.took_s)
        lines.append(
            f"cost, estimated from its times by list prices of {cost.region} ({cost.as_of}):"
            f" {words.format_usd(whole)}; not read from a bill"
        )
    else:
        lines.append("the cost is not known: the run has no result")
    return lines


def _describe_predicted_cost(allowance: Allowance) -> str:
    expected, most = words.format_usd(allowance.expected_usd), words.format_usd(allowance.most_usd)
    return f"cost, predicted by list prices: {expected}, at most {most}"


def dump_trial(
    trial: Trial, place: str, rows: Sequence[Row], allowance: Allowance | None
) -> dict[str, Any]:
    """Return the outcome for JSON."""
    from plimsoll.trial.trial import estimate_deployment_usd

    cost = trial.result.cost if trial.result else None
    return {
        "place": place,
        "passed": trial.passed,
        "findings": [finding.model_dump() for finding in trial.findings],
        "differences": [row.model_dump() for row in rows],
        "problem": trial.problem,
        "left": [{"what": left.what, "command": left.command} for left in trial.left],
        "took_s": round(trial.took_s, 1),
        "usd_predicted": allowance
        and {"expected": allowance.expected_usd, "most": allowance.most_usd},
        "usd_estimated": (
            cost.usd + estimate_deployment_usd(trial.took_s)
            if allowance and cost and cost.usd is not None
            else None
        ),
        "run_id": trial.result.run_id if trial.result else None,
    }
