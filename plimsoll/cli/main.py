"""Entry point of the `plimsoll` command: dispatches to verbs and prints errors as single lines.

Exit codes, of which docs/command-line.md has the table: 0 success, 1 a failure, 2 bad usage, 3 no
answer, 130 interrupted.
"""

import importlib
import io
import os
import sys
from pathlib import Path

import click

from plimsoll import __version__, words
from plimsoll.errors import OptionError, PlimsollError
from plimsoll.process_limits import (
    describe_system_error,
    is_limit_reached,
    name_limit_in,
    warn_of_little_memory,
)

# group of verbs -> verb -> (module:attribute, its line in `plimsoll --help`)
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Measure": {
        "find": ("plimsoll.cli.find:command", "Find the load line of a database that you have"),
        "run": ("plimsoll.cli.run:run", "Provision a target, and find its load line"),
        "experiment": (
            "plimsoll.cli.experiment:command",
            "Start, watch or stop a matrix of runs on the service",
        ),
        "prepare": ("plimsoll.cli.prepare:command", "Create the tables and rows of a workload"),
        "load": ("plimsoll.cli.load:command", "Load a database and measure it"),
        "capacity": (
            "plimsoll.cli.capacity:command",
            "Judge finished steps: a table, outputs of other programs, a run",
        ),
        "gate": (
            "plimsoll.cli.gate:command",
            "Compare what each operation costs in two states of a database, by counts",
        ),
        "versus": (
            "plimsoll.cli.versus:command",
            "Load two databases in pairs until it is decided whether they differ",
        ),
    },
    "Decide": {
        "advise": (
            "plimsoll.cli.advise:command",
            "Say what to buy for a database, from its own history",
        ),
        "size": (
            "plimsoll.cli.size:command",
            "Say what to buy for a load, from what a run measured",
        ),
        "observe": ("plimsoll.cli.observing:command", "Measure the load of a production database"),
        "compare": ("plimsoll.cli.compare:command", "Compare runs, and test whether they differ"),
        "report": (
            "plimsoll.cli.report:command",
            "Write a run's report: a page, a picture, a table",
        ),
        "show": ("plimsoll.cli.show:show", "Print a finished run again"),
    },
    "Service": {
        "submit": ("plimsoll.cli.submit:submit", "Start runs or an experiment on the service"),
        "list": ("plimsoll.cli.list:command", "List the runs on the service"),
        "status": ("plimsoll.cli.status:status", "Print the state of a run on the service"),
        "watch": ("plimsoll.cli.watch:watch", "Follow a run on the service to its end"),
        "stop": ("plimsoll.cli.stop:stop", "Stop a run on the service, and delete its target"),
        "schedule": (
            "plimsoll.cli.schedule:command",
            "Create checks on the service, and read what they found",
        ),
        "console": ("plimsoll.cli.page:console", "Show a deployment's page in the browser"),
        "team": ("plimsoll.cli.team:command", "Add teams to a deployment, list or remove them"),
        "drain": ("plimsoll.cli.drain:drain", "Have a deployment start no new runs, to update it"),
    },
    "Tools": {
        "validate": ("plimsoll.cli.validate:validate", "Check a request without creating anything"),
        "quote": ("plimsoll.cli.quote:command", "Estimate the time and cost of a request"),
        "preflight": (
            "plimsoll.cli.preflight:command",
            "Check whether AWS and the service can make a run",
        ),
        "prices": ("plimsoll.cli.prices:command", "Read a region's prices from AWS's price list"),
        "workload": ("plimsoll.cli.workload:command", "List, show, derive or check workloads"),
        "volume": (
            "plimsoll.cli.volume:volume",
            "Run programs on volumes that behave like those of AWS, and watch them",
        ),
        "serve": ("plimsoll.cli.serve:serve", "Run the service on this machine"),
        "doctor": ("plimsoll.cli.doctor:command", "List what this machine has and what it lacks"),
        "canary": (
            "plimsoll.cli.canary:canary",
            "Test a whole deployment: deploy, run, assert, destroy",
        ),
    },
}
VERBS = {verb: entry for verbs in GROUPS.values() for verb, entry in verbs.items()}
WORKLOAD_VERBS = ("derive", "check")  # below `plimsoll workload`
# verbs that work for one more release, and say what they are called now
OLD_VERBS = {"workloads": "plimsoll.cli.workload:old_command"}


class LazyGroup(click.Group):
    """A group whose commands are imported only when they are called, so that help is fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List every verb, in the order of the table."""
        return [*VERBS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb's module and return its command."""
        place = VERBS[cmd_name][0] if cmd_name in VERBS else OLD_VERBS.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module, attribute = place.split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)  # noqa: S101 - the table above is ours
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; if it is unknown, suggest similar ones.

        Click itself would know only imported commands.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            if error.command_name in WORKLOAD_VERBS:
                meant = f"Did you mean 'workload {error.command_name}'?"
                raise click.UsageError(
                    f"No such command {error.command_name!r}. {meant}", ctx
                ) from None
            raise click.NoSuchCommand(error.command_name, possibilities=VERBS, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs by group, without importing them."""
        del ctx
        widest = max(map(len, VERBS))
        for group, verbs in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl(
                    [(f"{verb:{widest}}", line) for verb, (_, line) in verbs.items()]
                )


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="plimsoll")
def cli() -> None:
    """Find a database's load line: the most throughput that it sustains on a given storage."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its code; every known error is one line on standard error."""
    _make_streams_writable()
    if warning := warn_of_little_memory():
        click.echo(f"plimsoll: {warning}", err=True)
    try:
        code = cli.main(
            args=arguments,
            prog_name="plimsoll",
            standalone_mode=False,
            obj=sys.argv[1:] if arguments is None else arguments,  # to print how to try again
        )
    except click.exceptions.Abort:
        click.echo("plimsoll: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except PlimsollError as error:
        if isinstance(error, OptionError):
            from plimsoll.cli.options import FLAGS

            error = error.name_options(FLAGS)
        from plimsoll.cli.output import fold_line, measure_terminal

        # the text may come from a server
        told = f"plimsoll: {words.escape_controls(name_limit_in(str(error)))}".splitlines()
        width = measure_terminal(err=True)
        click.echo("\n".join(fold_line(line, 2, width) for line in told), err=True)
        sys.exit(error.exit_code)
    except OSError as error:  # a full disk or a read-only folder, for instance
        place = f"{words.escape_controls(str(error.filename))}: " if error.filename else ""
        click.echo(f"plimsoll: {place}{describe_system_error(error)}", err=True)
        sys.exit(1)
    except BaseException as error:  # a panic of the engine is no Exception
        if type(error).__module__.startswith("botocore."):  # imported by the verbs that need it
            which = "AWS_PROFILE and AWS_REGION say which account and region"
            click.echo(f"plimsoll: AWS: {words.escape_controls(str(error))} ({which})", err=True)
            sys.exit(1)
        if not is_limit_reached(error):
            raise
        click.echo(f"plimsoll: {describe_system_error(error)}", err=True)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _make_streams_writable() -> None:
    """Have a stream that is closed (`>&-`) take what is written, and others every letter.

    What the terminal's encoding lacks is shown as `?`.
    """
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
