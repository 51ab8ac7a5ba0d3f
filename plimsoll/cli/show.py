"""`plimsoll show`: prints a finished run, or several, again."""

import json
from pathlib import Path

import click
from rich.console import Console

from plimsoll.cli.output import print_figures
from plimsoll.cli.run_text import comparison, print_result
from plimsoll.errors import UsageError
from plimsoll.model.experiment_record import ExperimentResult
from plimsoll.model.results import RunResult
from plimsoll.model.run_record import RunState
from plimsoll.report.comparing import compare
from plimsoll.report.folder import RESULT, read_model, run_folders

EXPERIMENT = "experiment.json"
MEASURE_AGAIN = {"DISTURBED", "DRIFTING"}  # verdicts that say nothing of the target as it is
Results = dict[str, tuple[Path | None, RunResult]]  # by name; its folder here, if it has one


def read_results(directory: Path) -> Results:
    """Read the results in a run's directory, or in that of several runs, by name.

    Raises:
        UsageError: There is none, or it is of another version.
    """
    results = [(path, read_model(path / RESULT, RunResult)) for path in run_folders(directory)]
    if not results:
        raise UsageError(f"{directory}: no {RESULT} here, nor in a folder of it")
    results.sort(key=lambda place_and_result: place_and_result[1].moments.submitted)
    return {path.name: (path, result) for path, result in results}


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print result.json.")
def show(directory: Path, *, as_json: bool) -> int:
    """Print the finished run, runs or experiment whose files are in DIRECTORY."""
    if (directory / EXPERIMENT).is_file():
        from plimsoll.cli.experiment_text import print_experiment  # noqa: PLC0415 - slow to load

        print_experiment(read_model(directory / EXPERIMENT, ExperimentResult), as_json=as_json)
        return 0
    print_results(read_results(directory), as_json=as_json)
    return 0


def exit_code(results: Results) -> int:
    """Give 0 where every run has succeeded, and machine and target let it measure something."""
    return int(not all(map(_told, (result for _, result in results.values()))))


def _told(result: RunResult) -> bool:
    to_measure_again = result.capacity is not None and result.capacity.verdict in MEASURE_AGAIN
    return result.state is RunState.SUCCEEDED and not to_measure_again


def print_results(results: Results, *, as_json: bool) -> None:
    """Print runs on standard output; several with a comparison.

    As JSON, one run is printed as it is, several by name under `runs`.
    """
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
        print_figures(console, comparison({name: result for name, (_, result) in results.items()}))
        for sentence in compare([result for _, result in results.values()]).sentences:
            console.print(sentence, highlight=False, soft_wrap=True)
