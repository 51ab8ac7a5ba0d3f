"""docs/ci.md and the jobs that it offers: they parse, and each command in them is one."""

import re
import shlex
from pathlib import Path
from typing import Any, get_args

import click
import pytest
import yaml

from plimsoll.cli.main import cli
from plimsoll.model.judging.capacity import Verdict
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.request.expectations import FORMS, parse_rule

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "ci.md").read_text()
GITHUB = (DOCS / "ci/github.yml").read_text()
GITLAB = (DOCS / "ci/gitlab.yml").read_text()
GATE_GITHUB = (DOCS / "ci/gate-github.yml").read_text()
GATE_GITLAB = (DOCS / "ci/gate-gitlab.yml").read_text()


def commands(value: Any) -> list[str]:
    """Find the lines of a job that call the command."""
    match value:
        case dict():
            return [line for part in value.values() for line in commands(part)]
        case list():
            return [line for part in value for line in commands(part)]
        case str():
            return [line for line in value.splitlines() if line.startswith("plimsoll ")]
        case _:
            return []


WITHOUT_A_FIGURE = set(get_args(Verdict)) - {
    "KNEE",
    "PLATEAU",
    "LOWER_BOUND",
    "BELOW_FIRST_STEP",
    "NOT_SUSTAINED",
}
BLOCKS = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)).replace("\\\n", "")
JOBS = [*commands(yaml.safe_load(GITHUB)), *commands(yaml.safe_load(GITLAB))]
GATES = [*commands(yaml.safe_load(GATE_GITHUB)), *commands(yaml.safe_load(GATE_GITLAB))]
COMMANDS = [*commands(BLOCKS), *JOBS, *GATES]


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_is_a_verb_with_options_that_it_has(line: str) -> None:
    _, verb, *words = shlex.split(line, comments=True)
    context = click.Context(cli)
    command = cli.get_command(context, verb)
    assert command is not None, verb
    known = {name: each for each in command.params for name in each.opts}
    options = [(word, *words[i + 1 : i + 2]) for i, word in enumerate(words) if word[:2] == "--"]
    assert options
    for option, *value in options:
        assert option in known, option
        if option == "--expect":
            parse_rule(value[0])


def test_there_are_commands_for_each_place() -> None:
    assert len(JOBS) == len(GATES) == 2
    assert {line.split()[1] for line in COMMANDS} == {"find", "show", "capacity", "submit", "gate"}


def test_the_jobs_have_the_shape_that_github_and_gitlab_read() -> None:
    workflow = yaml.safe_load(GITHUB)
    assert set(workflow) == {"name", True, "permissions", "concurrency", "jobs"}  # `on` is true
    steps = workflow["jobs"]["find"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    job = yaml.safe_load(GITLAB)["load-line"]
    assert job["artifacts"]["reports"] == {"junit": "junit.xml"}
    assert all(isinstance(line, str) for line in (*job["script"], *job["before_script"]))
    written = {"junit.xml", "summary.md", "load-line"}
    assert all(name in shlex.split(job["script"][0]) for name in written)


def test_the_gates_jobs_bring_a_database_of_their_own() -> None:
    job = yaml.safe_load(GATE_GITHUB)["jobs"]["gate"]
    assert all(("run" in step) != ("uses" in step) for step in job["steps"])
    other = yaml.safe_load(GATE_GITLAB)["gate"]
    assert other["artifacts"]["reports"] == {"junit": "junit.xml"}
    assert job["services"]["postgres"]["image"] == other["services"][0]["name"] == "postgres:18"
    for dsn, host in ((job["env"], "127.0.0.1"), (other["variables"], "postgres")):
        target = parse_dsn(dsn["PLIMSOLL_DSN"])
        assert (target.host, target.password, target.tls) == (host, "gate", None)


def test_the_package_comes_from_where_its_user_put_it_and_from_no_index() -> None:
    installs = re.findall(
        r"pip install [^#\n]*?\"[^\"]*\"", GITHUB + GITLAB + GATE_GITHUB + GATE_GITLAB + PAGE
    )
    assert installs == ['pip install "plimsoll-db @ $PLIMSOLL_WHEEL"'] * 4


def test_the_page_explains_each_form_of_a_rule() -> None:
    for form in FORMS:
        assert f"| `{form}` |" in PAGE


@pytest.mark.parametrize("page", ["ci.md", "command-line.md"])
def test_the_verdicts_that_are_no_answer_are_those_without_a_figure(page: str) -> None:
    listed = re.findall(r"\(((?:`[A-Z_]+`(?:, )?){4,})\)", (DOCS / page).read_text())
    assert [set(re.findall(r"[A-Z_]+", names)) for names in listed] == [WITHOUT_A_FIGURE]
