"""`plimsoll serve`: the service on this machine."""

import socket
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli.options import WholeRange
from plimsoll.errors import PlimsollError

if TYPE_CHECKING:
    from plimsoll.local.twin import LocalTwin

_WARM_CLIENTS = 2


@click.command()
@click.option(
    "--port",
    type=WholeRange(0, 65_535),
    default=8080,
    show_default=True,
    help="Port on 127.0.0.1; 0 means any free one.",
)
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for finished runs. Default: plimsoll-results/serve-TIME/.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False, exists=True, writable=True),
    help="Folder for the databases' files during runs. Default: in memory if they fit into half of"
    " what is free, else with the temporary files.",
)
@click.option(
    "--no-token", is_flag=True, help="Allow every account of this machine to call the service."
)
@click.option("--verbose", is_flag=True, help="Print each request on standard error.")
def serve(
    *, port: int, directory: Path | None, data_dir: Path | None, no_token: bool, verbose: bool
) -> int:
    """Run the service on 127.0.0.1, with the same API, workflows and schedules as on AWS.

    Its page in the browser, whose address is printed on standard error, shows runs live, and starts
    and compares them (docs/console.md).

    Its address is the first line on standard output; `plimsoll submit --url ADDRESS` and the other
    verbs take it. Each call carries a token (`Authorization: Bearer TOKEN`), printed once on
    standard error: the verbs read it from a file that only you can read.

    Ctrl-C or SIGTERM stops every run, deletes every target and ends the service. Schedules are lost
    then; the files of finished runs stay, and the next service shows those that it finds in the
    folder of --dir, by default plimsoll-results/.
    """
    from plimsoll.cli.run_experiment import RESULTS
    from plimsoll.client.tokens import keep_token
    from plimsoll.report.folder import find_newest_runs

    # at once: loading what follows takes seconds on a busy machine
    _print_line("starting; the address follows when the service answers, in 5 to 30 seconds")
    from plimsoll.local.home import make_twin_home
    from plimsoll.local.leftovers import remove_leftovers
    from plimsoll.local.past_runs import PastRuns
    from plimsoll.local.runner import interrupt_on_termination
    from plimsoll.local.twin import LocalTwin, check_machine

    check_machine()
    from plimsoll.local.front import listen  # it needs the packages that were just checked

    results = directory or RESULTS / f"serve-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    listener = listen(port)
    remove_leftovers(_print_line)
    _print_line("starting the stand-in for AWS on this machine")
    with (
        interrupt_on_termination(),
        nullcontext()
        if no_token
        else keep_token(listener.getsockname()[1], lasting=port != 0) as token,
        make_twin_home(parent=data_dir) as home,
        LocalTwin(home) as twin,
    ):
        say = _print_line if verbose else lambda _: None
        past = find_newest_runs(directory or RESULTS)
        with PastRuns(twin, past, _print_line):
            return _serve(twin, listener, results, token=token, say=say)


def _serve(
    twin: "LocalTwin",
    listener: socket.socket,
    results: Path,
    *,
    token: str | None,
    say: Callable[[str], None],
) -> int:
    from plimsoll.client.tokens import find_token_path
    from plimsoll.local.http_front import LocalService
    from plimsoll.local.serving import Archive, stop_everything

    _print_line("waiting for the API and the first load clients")
    twin.warm("api", 1)
    twin.warm("load-client", _WARM_CLIENTS)
    with Archive(twin, results, _print_line):
        try:
            with LocalService(twin, token=token, listener=listener, say=say) as service:
                click.echo(service.url)
                _print_line(f"open {service.page_url} in a browser")
                if token is not None:
                    place = find_token_path(service.port)
                    _print_line(f"the token is {token}; the verbs read it from {place}")
                _print_line(f"finished runs go to {results}; Ctrl-C ends the service and its runs")
                _wait_for_interrupt(twin)
        except KeyboardInterrupt:
            _print_line("ending: no more requests are answered")
        if not stop_everything(twin, _print_line):
            raise PlimsollError("a run did not stop in time: it was ended with the stand-in")
    _print_line("nothing is left running")
    return 0


def _wait_for_interrupt(twin: "LocalTwin") -> None:
    """Wait for an interrupt.

    Raises:
        PlimsollError: The stand-in for AWS has died.
    """
    while twin.alive:
        time.sleep(1)
    raise PlimsollError("the local stand-in for AWS has ended: see its last messages above")


def _print_line(text: str) -> None:
    click.echo(f"{datetime.now(UTC):%H:%M:%S}  {text}", err=True)
