"""The options that check results against rules, and report the outcome to a pipeline."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from plimsoll import words
from plimsoll.cli.exit_codes import choose_exit_code_of_runs
from plimsoll.cli.output import fold_line, measure_terminal
from plimsoll.errors import UsageError
from plimsoll.files import write_whole

if TYPE_CHECKING:
    from plimsoll.model.judging.capacity import Capacity
    from plimsoll.model.request.expectations import Expectation
    from plimsoll.model.request.request import Request
    from plimsoll.model.run.results import RunResult
    from plimsoll.report.expectations import Judged
    from plimsoll.report.summaries import Summary
    from plimsoll.requests.checked_request import CheckedRequest


# key: run name; value: its folder here, if any, and its result
Results: TypeAlias = "dict[str, tuple[Path | None, RunResult]]"
Command = Callable[..., Any]


@dataclass(frozen=True)
class Expecting:
    """The expectations on the command line.

    Attributes:
        rules: The rules of `--expect`.
        junit: The path of the JUnit XML file; None to write none.
        markdown: The path of the Markdown file; None to write none.
        baselines: Earlier results, by the names that rules use for them.
    """

    rules: tuple[str, ...] = ()
    junit: Path | None = None
    markdown: Path | None = None
    baselines: dict[str, Judged] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return whether any of the options was given."""
        return bool(self.rules or self.junit or self.markdown)

    def require_operations(self, operations: Collection[str]) -> None:
        """Refuse rules about operations that do not exist."""
        from plimsoll.model.request.expectations import parse_rule, require_operations

        try:
            require_operations(map(parse_rule, self.rules), operations)
        except UsageError as error:
            raise error.within("--expect") from None

    def require_measured(self, results: Results) -> None:
        """Refuse rules about operations that a run did not measure.

        Raises:
            UsageError: The run measured other operations. A run without steps is no error.
        """
        for _, result in results.values():
            if operations := {name for step in result.steps for name in step.operations}:
                self.require_operations(operations)

    def require_baselines(self, requests: Iterable[Request] = ()) -> None:
        """Read every earlier result that a rule names, before anything is created.

        Raises:
            UsageError: One cannot be read.
        """
        from plimsoll.model.request.expectations import BaselineRule, parse_rule
        from plimsoll.report.expectations import read_baseline

        rules = [*self.rules, *(rule for request in requests for rule in request.expect)]
        for rule in map(parse_rule, rules):
            if isinstance(rule, BaselineRule) and rule.baseline not in self.baselines:
                self.baselines[rule.baseline] = read_baseline(Path(rule.baseline))

    def add_rules(self, requests: Mapping[str, CheckedRequest]) -> dict[str, CheckedRequest]:
        """Add the command line's rules to requests, once it is clear that every rule can be judged.

        Raises:
            UsageError: A workload lacks an operation, or an earlier result cannot be read.
        """
        for checked in requests.values():
            self.require_operations(checked.workload.operation_names)
        self.require_baselines(checked.request for checked in requests.values())
        return {name: self._add_rules(checked) for name, checked in requests.items()}

    def _add_rules(self, checked: CheckedRequest) -> CheckedRequest:
        rules = tuple(dict.fromkeys((*checked.request.expect, *self.rules)))
        return replace(checked, request=checked.request.model_copy(update={"expect": rules}))

    def judge(self, result: RunResult) -> RunResult:
        """Check a run against its own rules and those of the command line."""
        from plimsoll.report.expectations import check_expectations

        return check_expectations(result, self.rules, self.baselines)

    def judge_table(self, capacity: Capacity) -> tuple[Expectation, ...]:
        """Check a verdict on a table of steps against the rules of the command line."""
        from plimsoll.report.expectations import Judged, check_rule

        return tuple(check_rule(rule, Judged(capacity), self.baselines) for rule in self.rules)

    def judge_all(self, results: Results, *, keep: bool) -> Results:
        """Check runs against their rules.

        Args:
            results: The runs.
            keep: Whether to write the outcome into the runs' files and pages.
        """
        from plimsoll.cli.run_experiment import write_report
        from plimsoll.report.folder import RESULT, SECONDS

        judged: Results = {}
        for name, (folder, result) in results.items():
            judged[name] = folder, self.judge(result)
            if keep and folder is not None and judged[name][1] != result:
                write_whole(folder / RESULT, judged[name][1].model_dump_json())
                # otherwise the service drew the page, from series that are not here
                if (folder / SECONDS).is_file():
                    write_report(folder)
        return judged

    def tell(self, summaries: Sequence[Summary]) -> int:
        """Write the files for a pipeline, and return the exit code.

        Rules that are not met are repeated on standard error: they are the last lines of a verb.
        """
        from plimsoll.report.summaries import write_junit, write_markdown

        texts = ((self.junit, write_junit), (self.markdown, write_markdown))
        for path, written in texts:
            if path is not None:
                write_whole(path, written(summaries))
        for summary in summaries:
            for case in summary.cases:
                if case.outcome == "not met":
                    line = f"plimsoll: {summary.name}: {case.name} is not met: {case.because}"
                    folded = fold_line(words.escape_controls(line), 2, measure_terminal(err=True))
                    click.echo(folded, err=True)
        return choose_exit_code_of_runs(summaries)

    def tell_runs(self, results: Results) -> int:
        """Write the files of runs for a pipeline; return the exit code."""
        from plimsoll.report.summaries import summarize_run

        return self.tell([summarize_run(result) for _, result in results.values()])


def check_folder(_: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before anything is created."""
    if path is not None and not path.parent.is_dir():
        raise UsageError(f"--{parameter.name} {path}: there is no folder {path.parent}")
    return path


def _check_rules(_: click.Context, __: click.Parameter, rules: tuple[str, ...]) -> tuple[str, ...]:
    from plimsoll.model.request.expectations import parse_rule

    for rule in rules:
        try:
            parse_rule(rule)
        except UsageError as error:
            raise error.within("--expect") from None
    return rules


def files_options(command: Command) -> Command:
    """Add `--junit` and `--markdown`."""
    options = (
        click.option(
            "--junit",
            metavar="FILE",
            type=click.Path(path_type=Path, dir_okay=False),
            callback=check_folder,
            help="Write a test case per rule as JUnit XML.",
        ),
        click.option(
            "--markdown",
            metavar="FILE",
            type=click.Path(path_type=Path, dir_okay=False),
            callback=check_folder,
            help="Write a summary for a pull request as Markdown.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def expect_options(command: Command) -> Command:
    """Add `--expect`, `--junit` and `--markdown`; the command receives them as `expecting`."""

    @functools.wraps(command)
    def run_with_options(
        *arguments: Any,
        expect: tuple[str, ...],
        junit: Path | None,
        markdown: Path | None,
        **others: Any,
    ) -> Any:
        return command(*arguments, expecting=Expecting(expect, junit, markdown), **others)

    expect_option = click.option(
        "--expect",
        multiple=True,
        metavar="RULE",
        callback=_check_rules,
        help="Rule to check; exit code 1 if it does not hold, 3 if that cannot be decided:"
        " 'capacity >= 2000', 'p99.read <= 5ms at 1500', 'not worse than result.json by 5 %';"
        " repeatable (docs/ci.md).",
    )
    return expect_option(files_options(run_with_options))
