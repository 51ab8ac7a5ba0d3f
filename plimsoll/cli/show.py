"""`plimsoll show`: prints a finished run, or several, again."""

import json
from pathlib import Path
from typing import TypeVar

import click
from pydantic import ValidationError
from rich.console import Console

from plimsoll.aws.run_files import RESULT
from plimsoll.cli.output import print_figures
from plimsoll.cli.run_text import comparison, print_result
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.experiment_record import ExperimentResult
from plimsoll.model.results import RunResult
from plimsoll.report.comparing import compare

EXPERIMENT = "experiment.json"
AnyModel = TypeVar("AnyModel", bound=Model)


def read_results(directory: Path) -> dict[str, tuple[Path, RunResult]]:
    """Find the results in a run's directory, or in that of several runs, by name.

    Raises:
        UsageError: There is none, or it is of another version.
    """
    found = [directory] if (directory / RESULT).is_file() else _runs_within(directory)
    if not found:
        raise UsageError(f"{directory}: no {RESULT} here, nor in a folder of it")
    return {path.name: (path, _read(path / RESULT, RunResult)) for path in found}


def _runs_within(directory: Path) -> list[Path]:
    runs = [path.parent for path in directory.glob(f"*/{RESULT}")]
    return sorted(runs, key=lambda path: _read(path / RESULT, RunResult).moments.submitted)


def _read(path: Path, model: type[AnyModel]) -> AnyModel:
    try:
        return model.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path}: {where}: {first['msg']}") from None


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print result.json.")
def show(directory: Path, *, as_json: bool) -> int:
    """Print the finished run, runs or experiment whose files are in DIRECTORY."""
    if (directory / EXPERIMENT).is_file():
        from plimsoll.cli.experiment_text import print_experiment  # noqa: PLC0415 - slow to load

        print_experiment(_read(directory / EXPERIMENT, ExperimentResult), as_json=as_json)
        return 0
    results = read_results(directory)
    print_results(results, as_json=as_json)
    return 0


def print_results(results: dict[str, tuple[Path, RunResult]], *, as_json: bool) -> None:
    """Print runs on standard output; several with a comparison."""
    if as_json:
        click.echo(json.dumps(results_json(results), indent=2))
        return
    console = Console()
    for path, result in results.values():
        print_result(result, path, console)
        console.print()
    if len(results) > 1:
        print_figures(console, comparison({name: result for name, (_, result) in results.items()}))
        for sentence in compare([result for _, result in results.values()]).sentences:
            console.print(sentence, highlight=False, soft_wrap=True)


def results_json(results: dict[str, tuple[Path, RunResult]]) -> dict[str, object]:
    """Give one run as it is, several by name under `runs`."""
    dumped = {name: result.model_dump(mode="json") for name, (_, result) in results.items()}
    return next(iter(dumped.values())) if len(dumped) == 1 else {"runs": dumped}
