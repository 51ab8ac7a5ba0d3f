"""A canary on a terminal: what it will make and cost, what it found, what differs, what is left."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from plimsoll import words
from plimsoll.canary.allowance import Allowance, deployment_usd
from plimsoll.canary.comparison import Row
from plimsoll.canary.trial import Trial
from plimsoll.cli.output import print_figures, table_of
from plimsoll.cli.progress import RunProgress

_TOLD_EVERY_S = 10.0


class CanaryProgress(RunProgress):
    """Tells what is waited for without a terminal, too: a line each ten seconds."""

    _told_at = 0.0

    def status(self, text: str) -> None:
        """Show what is under way."""
        super().status(text)
        if self._status is None and time.monotonic() - self._told_at > _TOLD_EVERY_S:
            self._told_at = time.monotonic()
            self.say(f"waiting: {text}")


def announce(creates: Sequence[str], allowance: Allowance, budget_usd: float) -> None:
    """Say on standard error what will be made, and what it will cost by our price list."""
    lines = [
        *creates,
        f"{_predicted(allowance)}; the budget is {words.usd(budget_usd)}",
        f"after {words.duration(allowance.lasts_s)} it is stopped and destroyed, however far it is",
    ]
    print(*lines, sep="\n", file=sys.stderr)


def print_trial(
    trial: Trial, names: tuple[str, str], rows: Sequence[Row], cost: Sequence[str]
) -> None:
    """Print it on standard output."""
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
        table = table_of("field", here, there)
        for row in rows:
            table.add_row(row.field, row.here, row.there)
        print_figures(console, table)
    for line in cost:
        console.print(line, highlight=False, soft_wrap=True)
    if trial.problem is not None:
        console.print(f"It did not come to its end: {trial.problem}", markup=False, soft_wrap=True)
    for left in trial.left:
        console.print(f"NOT DELETED: {left.what}: {left.command}", markup=False, soft_wrap=True)
    verdict = "[bold green]passed[/]" if trial.passed else "[bold red]failed[/]"
    console.print(f"canary: {verdict} after {words.duration(trial.took_s)}", highlight=False)


def cost_lines(trial: Trial, allowance: Allowance | None) -> list[str]:
    """Say what it cost by our price list; it is never measured."""
    if allowance is None:
        return ["cost: nothing; one machine"]
    lines = [_predicted(allowance)]
    cost = trial.result.cost if trial.result else None
    if cost is not None and cost.usd is not None:
        whole = cost.usd + deployment_usd(trial.took_s)
        lines.append(
            f"cost, estimated from its times by list prices of {cost.region} ({cost.as_of}):"
            f" {words.usd(whole)}; no bill has been read"
        )
    else:
        lines.append("what it cost is not known: the run came to no result")
    return lines


def _predicted(allowance: Allowance) -> str:
    expected, most = words.usd(allowance.expected_usd), words.usd(allowance.most_usd)
    return f"cost, predicted by list prices: {expected}, at most {most}"


def as_json(
    trial: Trial, place: str, rows: Sequence[Row], allowance: Allowance | None
) -> dict[str, Any]:
    """Give all of it as JSON."""
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
            cost.usd + deployment_usd(trial.took_s)
            if allowance and cost and cost.usd is not None
            else None
        ),
        "run_id": trial.result.run_id if trial.result else None,
    }
