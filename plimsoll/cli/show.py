"""`plimsoll show`: prints a finished run, or several, again."""

import json
from pathlib import Path

import click

from plimsoll.cli.exit_codes import choose_exit_code_of_experiment
from plimsoll.cli.expecting import Expecting, Results, expect_options
from plimsoll.cli.output import print_figures
from plimsoll.errors import UsageError

EXPERIMENT = "experiment.json"


def read_results(directory: Path) -> Results:
    """Read the results in the directory of a run, or of several runs, by name.

    Raises:
        UsageError: There is none, or it is of another version.
    """
    from plimsoll.model.run.results import RunResult
    from plimsoll.report.folder import RESULT, list_run_folders, read_model

    results = [(path, read_model(path / RESULT, RunResult)) for path in list_run_folders(directory)]
    if not results:
        raise UsageError(f"{directory}: no {RESULT} here, nor in a folder of it")
    results.sort(key=lambda place_and_result: place_and_result[1].moments.submitted)
    return {path.name: (path, result) for path, result in results}


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@expect_options
@click.option("--json", "as_json", is_flag=True, help="Print result.json.")
def show(directory: Path, *, expecting: Expecting, as_json: bool) -> int:
    """Print the finished run, runs or experiment whose files are in DIRECTORY.

    The exit code is that of the command that created the files. 1: a run failed, or a rule is not
    met. 3: there is no answer, or a rule cannot be decided.
    """
    from plimsoll.model.run.experiment_record import ExperimentResult
    from plimsoll.report.folder import read_model

    if (directory / EXPERIMENT).is_file():
        from plimsoll.cli.experiment import print_experiment

        if expecting:
            raise UsageError(f"{directory}: rules apply to runs, not to an experiment")
        experiment = read_model(directory / EXPERIMENT, ExperimentResult)
        print_experiment(experiment, as_json=as_json)
        return choose_exit_code_of_experiment(experiment)
    results = read_results(directory)
    expecting.require_measured(results)
    expecting.require_baselines()
    results = expecting.judge_all(results, keep=False)
    print_results(results, as_json=as_json)
    return expecting.tell_runs(results)


def print_results(results: Results, *, as_json: bool) -> None:
    """Print runs on standard output; several with a comparison.

    In JSON, a single run is the whole document; several are under `runs`, by name.
    """
    from rich.console import Console

    from plimsoll.cli.run_text import make_comparison_table, print_result
    from plimsoll.report.comparing.comparing import compare_runs

    if as_json:
        dumped = {name: result.model_dump(mode="json") for name, (_, result) in results.items()}
        whole = {"runs": dumped} if len(dumped) > 1 else next(iter(dumped.values()))
        click.echo(json.dumps(whole, indent=2))
        return
    console = Console()
    for path, result in results.values():
        print_result(result, path, console)
        console.print()
    if len(results) > 1:
        print_figures(
            console, make_comparison_table({name: result for name, (_, result) in results.items()})
        )
        for sentence in compare_runs([result for _, result in results.values()]).sentences:
            console.print(sentence, highlight=False, soft_wrap=not console.is_terminal)
