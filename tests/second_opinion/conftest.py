"""Every chosen scenario, executed once by each interpreter; and what came out, in numbers."""

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from plimsoll.statemachines import STATE_MACHINES
from tests.second_opinion.interpreters import INTERPRETERS, StepFunctions, running
from tests.second_opinion.recordings import REPOSITORY
from tests.second_opinion.scenarios import Scenario, definition
from tests.second_opinion.scripted_aws import WRITTEN, Call, ScriptedAws
from tests.second_opinion.written_down import Outcome, write_down

# AWS's recordings are in LocalStack's repository, of which nothing is kept here: a clone is wanted
collect_ignore = [] if REPOSITORY in os.environ else ["test_recordings.py"]
# what a Map calls for its items at the same time, in no order
_AT_ONCE = {
    "load-client": "items",
    "load-client-2": "items",
    "load-dataset": "items",
    WRITTEN: "items",
}
_TWO_CELLS = {"submit-cell": "cells", "run": "cells"}
# so do a relay's clients, its reader and its judge, who tells the bus
_RELAYED = {"judge-step": "items", "bus": "items"}


@dataclass(frozen=True)
class Execution:
    """What an interpreter made of a scenario."""

    status: str
    end: tuple[str | None, str | None, Any]  # error, cause, output
    calls: Sequence[tuple[str, Any]]


def _execute(name: str, scenarios: Sequence[Scenario], log: Path) -> dict[str, Execution]:
    scripts = {scenario.name: scenario.script for scenario in scenarios}
    with ScriptedAws(scripts) as aws, running(INTERPRETERS[name](), log) as interpreter:
        interpreter.call_aws_at(aws.url)
        states = StepFunctions(interpreter.url)
        machines = {
            machine: states.create(machine, definition(machine)) for machine in STATE_MACHINES
        }
        started = {
            scenario.name: states.start(machines[scenario.machine], scenario.name, scenario.given)
            for scenario in sorted(scenarios, key=lambda scenario: not scenario.slow)
        }
        ended = {name: states.wait(execution) for name, execution in started.items()}
        return {
            scenario.name: _execution(ended[scenario.name], aws.calls(scenario.name), scenario)
            for scenario in scenarios
        }


def _execution(ended: dict[str, Any], calls: Sequence[Call], scenario: Scenario) -> Execution:
    output = json.loads(ended["output"]) if "output" in ended else None
    end = (ended.get("error"), ended.get("cause"), output)
    return Execution(ended["status"], end, _in_order(calls, scenario))


def _in_order(calls: Sequence[Call], scenario: Scenario) -> list[tuple[str, Any]]:
    """Put the calls that were made at the same time into one order."""
    at_once = _AT_ONCE | (_TWO_CELLS if scenario.cells_at_once > 1 else {})
    at_once |= _RELAYED if scenario.relays else {}
    ordered: list[tuple[str, Any]] = []
    for what, group in groupby(calls, key=lambda call: at_once.get(call.name)):
        plain = [(call.name, _told_by_anyone(call, scenario)) for call in group]
        ordered += sorted(plain, key=json.dumps) if what else plain
    return ordered


def _told_by_anyone(call: Call, scenario: Scenario) -> Any:
    """Give a call's payload without the ARN of an item's own execution, whose name is random."""
    if not scenario.relays or not isinstance(call.payload, dict):
        return call.payload
    return {name: value for name, value in call.payload.items() if name != "Resources"}


@pytest.fixture(scope="session")
def executions(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Execution]]:
    """The executions of the chosen scenarios, by interpreter and scenario."""
    given = [
        item.callspec.params.get("scenario")
        for item in request.session.items
        if isinstance(item, pytest.Function) and "executions" in item.fixturenames
    ]
    chosen = [scenario for scenario in given if isinstance(scenario, Scenario)]
    folder = tmp_path_factory.mktemp("interpreters")
    with ThreadPoolExecutor(2) as pool:
        both = {
            name: pool.submit(_execute, name, chosen, folder / f"{name}.log")
            for name in INTERPRETERS
        }
        return {name: future.result() for name, future in both.items()}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-down", action="store_true", help="write the counts into the docs")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print each module's counts; write them down where all its tests ran and none failed."""
    modules: dict[str, Outcome] = defaultdict(Outcome)
    for outcome in ("passed", "xfailed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            module = modules[Path(report.nodeid.split("::")[0]).stem]
            module.tests[outcome] += 1
            module.counted += [value for _, value in report.user_properties]
    for name, module in modules.items():
        terminalreporter.write_line(f"{name}: {module}")
    whole = not terminalreporter.stats.get("deselected")
    if whole and config.getoption("write_down", default=False):
        write_down({name: module for name, module in modules.items() if module.good})
