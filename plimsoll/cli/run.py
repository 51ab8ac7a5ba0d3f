"""`plimsoll run`: finds a target's capacity, here and now."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click

from plimsoll.cli.progress import Progress
from plimsoll.cli.show import print_results, read_results
from plimsoll.errors import UsageError
from plimsoll.model.request import Request
from plimsoll.model.runs import RunState
from plimsoll.runs.request_file import read_requests

RESULTS = Path("plimsoll-results")


@click.command()
@click.argument("request_file", type=click.Path(path_type=Path))
@click.option("--local", is_flag=True, help="Run on this machine, without an AWS account.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the results go; a new or empty folder. Default: plimsoll-results/<run>/.",
)
@click.option("--json", "as_json", is_flag=True, help="Print result.json in place of tables.")
def run(request_file: Path, *, local: bool, out: Path | None, as_json: bool) -> int:
    """Run what REQUEST_FILE asks for: provision, load, search, conclude, tear down.

    Ctrl-C stops the run and deletes its target. Exit code 1: the run failed.
    """
    requests = read_requests(request_file)
    if not local:
        raise UsageError(
            "runs on AWS start through the deployment's API (docs/deploying.md);"
            " on this machine: plimsoll run --local"
        )
    directory = _directory(request_file, out)
    folders = [directory / name for name in requests] if len(requests) > 1 else [directory]
    interrupted = False
    for request, folder in zip(requests.values(), folders, strict=True):
        interrupted = _run_local(request, folder)
        if interrupted:
            break
    results = read_results(directory)
    print_results(results, as_json=as_json)
    if interrupted:
        return 130
    succeeded = all(result.state is RunState.SUCCEEDED for _, result in results.values())
    return 0 if succeeded else 1


def _directory(request_file: Path, out: Path | None) -> Path:
    """Name the folder of the results.

    Raises:
        UsageError: It holds something already.
    """
    directory = out or RESULTS / f"{request_file.stem}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    if directory.exists() and any(directory.iterdir()):
        raise UsageError(f"--out {directory}: this folder holds something already; name a new one")
    return directory


def _run_local(request: Request, folder: Path) -> bool:
    """Run one request on a twin of its own; returns whether it was interrupted."""
    from plimsoll.local.leftovers import HOME_PREFIX  # noqa: PLC0415 - an extra
    from plimsoll.local.runner import LocalRun, termination_interrupts  # noqa: PLC0415 - likewise
    from plimsoll.local.twin import LocalTwin  # noqa: PLC0415 - likewise

    with (
        termination_interrupts(),
        tempfile.TemporaryDirectory(prefix=HOME_PREFIX) as home,
        Progress(request) as progress,
    ):
        progress.say(f"{request.name}: starting")
        with LocalTwin(Path(home)) as twin:
            current = LocalRun(twin, request)
            interrupted = False
            try:
                current.wait(progress.show)
            except KeyboardInterrupt:
                interrupted = True
                progress.say("interrupted: stopping the run and deleting its target")
                current.stop()
                current.wait(progress.show)
            current.save(folder)
            return interrupted
