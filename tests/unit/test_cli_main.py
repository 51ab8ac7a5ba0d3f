"""The command's outer edge: exit codes, and one line for each error."""

import errno
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from plimsoll import __version__
from plimsoll.cli.main import GROUPS, VERBS, cli, main
from plimsoll.cli.options import NumberRange, WholeRange

ROOT = Path(__file__).parents[2]
COMPLETION = (ROOT / "docs/command-line.md").read_text().partition("\n## Completion\n")[2]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--version",), 0), (("--help",), 0), (("no-such-verb",), 2), (("--no-such-option",), 2)],
)
def test_exit_code(arguments: tuple[str, ...], code: int) -> None:
    command = [sys.executable, "-c", "from plimsoll.cli.main import main; main()", *arguments]
    assert subprocess.run(command, capture_output=True, check=False).returncode == code


class Ran(NamedTuple):
    """How a command ended."""

    code: object
    stdout: str
    stderr: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""

    def call(*arguments: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        return Ran(ended.value.code, *capsys.readouterr())

    return call


def test_version_names_the_package(run: Run) -> None:
    assert run("--version").stdout.strip() == f"plimsoll, version {__version__}"


def test_an_unknown_verb_is_named_without_a_stack_trace(run: Run) -> None:
    result = run("no-such-verb")
    assert "no-such-verb" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("fnid",), "Did you mean 'find'?"),
        (("experimnt", "start"), "Did you mean 'experiment'?"),
        (("schedule", "hstory"), "Did you mean 'history'?"),
        (("find", "--limt", "5ms"), "'--limit'"),
    ],
)
def test_what_was_meant_is_said(run: Run, arguments: tuple[str, ...], meant: str) -> None:
    result = run(*arguments)
    assert result.code == 2
    assert meant in result.stderr


def test_a_run_for_aws_says_both_ways(run: Run) -> None:
    file = str(ROOT / "scenarios/r1.yaml")
    told = run("run", file).stderr
    assert f"plimsoll submit {file}" in told
    assert f"plimsoll run {file} --local" in told


def test_each_verb_is_in_one_group(run: Run) -> None:
    grouped = [verb for verbs in GROUPS.values() for verb in verbs]
    assert sorted(grouped) == sorted(VERBS)
    told = run("--help").stdout
    assert [line.rstrip(":") for line in told.splitlines() if line.endswith(":")][1:] == [*GROUPS]
    assert "\n  workloads " not in told  # an old name


def test_help_loads_no_library_that_a_verb_needs_only_when_it_runs() -> None:
    program = """
import sys
from plimsoll.cli.main import VERBS, cli
for verb in sys.argv[1:] or VERBS:
    cli.main([verb, "--help"], prog_name="plimsoll", standalone_mode=False)
    if loaded := {"numpy", "boto3", "pymysql", "jinja2", "rich"} & sys.modules.keys():
        sys.exit(f"{verb} --help loads {', '.join(loaded)}")
"""
    for verbs in (["find"], []):
        command = [sys.executable, "-c", program, *verbs]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")


def list_options(command: click.Command) -> Iterator[tuple[str, click.Parameter]]:
    """Yield every option and argument of a command and its subcommands, with its command's name."""
    for parameter in command.params:
        yield command.name or "", parameter
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if below := command.get_command(context, name):
                yield from list_options(below)


def list_helps(command: click.Command, parent: click.Context | None) -> Iterator[str]:
    """Yield what a command and its subcommands print for --help at 80 columns."""
    context = click.Context(command, parent, command.name, terminal_width=80)
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if below := command.get_command(context, name):
                yield from list_helps(below, context)


def test_no_help_is_cut_or_wider_than_80_columns() -> None:
    lines = [line for text in list_helps(cli, None) for line in text.splitlines()]
    assert len(lines) > 1000
    assert [line for line in lines if len(line) > 80] == []
    cut = [line for line in lines if line.endswith("...") and not line.startswith("Usage: ")]
    assert cut == []


def test_each_option_of_any_verb_is_explained() -> None:
    options = [
        (name, option) for name, option in list_options(cli) if isinstance(option, click.Option)
    ]
    assert len(options) > 200
    assert [(name, option.name) for name, option in options if not option.help] == []


def test_no_number_of_any_verb_may_be_nan() -> None:
    """No bound excludes `nan`: a budget of it would stop nothing."""
    numbers = [
        (name, parameter)
        for name, parameter in list_options(cli)
        if isinstance(parameter.type, click.FloatRange | type(click.FLOAT))
    ]
    assert len(numbers) > 10
    for name, parameter in numbers:
        assert isinstance(parameter.type, NumberRange), (name, parameter.name)


def test_no_whole_number_of_any_verb_is_called_a_range() -> None:
    numbers = [
        (name, parameter)
        for name, parameter in list_options(cli)
        if isinstance(parameter.type, click.IntRange)
    ]
    assert len(numbers) > 10
    for name, parameter in numbers:
        assert isinstance(parameter.type, WholeRange), (name, parameter.name)


@pytest.mark.parametrize(
    "arguments",
    [
        ["\x1b[2J"],
        ["show", "/no/\x1b[2J\x9b"],
        ["find", "--\x1b[2J"],
        ["load", "--dsn", "mysql://h/d", "--workload", "ycsb-c", "--duration", "\x1b[2J"],
        ["prices", "--region", "eastus", "--cloud", "\x1b[2J"],
    ],
)
def test_an_argument_that_is_repeated_controls_no_terminal(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    told = "".join(capsys.readouterr())
    assert "\\x1b[2J" in told
    assert not {"\x1b", "\x9b"} & set(told)


def test_a_file_of_the_system_that_is_named_controls_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left", str(tmp_path / "\x1b[2J"))

    monkeypatch.setattr(cli, "main", fail)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 1
    assert "/\\x1b[2J" in capsys.readouterr().err


@pytest.mark.parametrize("instruction", re.findall(r"_PLIMSOLL_COMPLETE=(\w+)", COMPLETION))
def test_a_shell_is_told_how_to_complete(
    instruction: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As docs/command-line.md has a reader's shell ask for it."""
    monkeypatch.setenv("_PLIMSOLL_COMPLETE", instruction)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert not ended.value.code
    shell = instruction.partition("_")[0]
    assert f"_PLIMSOLL_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_a_verb_and_an_option_are_completed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_PLIMSOLL_COMPLETE", "bash_complete")
    for words, expected in (("plimsoll ver", "plain,versus"), ("plimsoll find --qu", "--quick")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        with pytest.raises(SystemExit):
            main([])
        assert expected in capsys.readouterr().out
