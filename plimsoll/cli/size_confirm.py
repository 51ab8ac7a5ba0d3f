"""Runs on this machine beside the boundary that `plimsoll size` predicts."""

from collections.abc import Callable
from pathlib import Path

import click

from plimsoll import words
from plimsoll.cli.run import run_here
from plimsoll.cli.validate import require_all_possible
from plimsoll.errors import PlimsollError
from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.run.results import RunResult
from plimsoll.report.folder import RESULT, read_model
from plimsoll.report.size_tables import confirmed_line
from plimsoll.sizing.answer import Confirmed, Option
from plimsoll.sizing.boundary import confirmed, request_beside
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.rank import Wish
from plimsoll.sizing.size import options_of, sizer_of, target_words

MOST = 2  # runs: what two have not decided is not decided beside this boundary


def confirm_here(
    runs: dict[str, Measured],
    wish: Wish,
    prices: PriceTable,
    folder: Path,
    read: Callable[[Path], Measured],
) -> tuple[dict[str, Measured], tuple[Confirmed, ...]]:
    """Measure the cheapest target that is predicted to carry the load, until one was measured to.

    Each run's own figures replace the model's correction, so that what is predicted next is nearer.

    Args:
        runs: By name; the first is the one asked about.
        wish: What is wanted.
        prices: By which is ranked.
        folder: Where their folders go, each by its number.
        read: Reads one of them.

    Returns:
        All runs, and what was predicted of each new one and measured.

    Raises:
        UsageError: This machine cannot stand in for the target.
        PlimsollError: A run failed, or was interrupted.
    """
    first = next(iter(runs.values()))
    made: list[Confirmed] = []
    while len(made) < MOST:
        option = _next(runs, wish, prices)
        if option is None:
            break
        number = 1 + max((int(made.name) for made in folder.glob("[0-9]*")), default=0)
        place = folder / str(number)
        sizer = sizer_of(runs, wish, prices)
        processors = first.known.profile.own.processors
        found = sizer.prediction(
            option.target, processors=None if processors is None else round(processors)
        )
        request = request_beside(
            first.result.request,
            option.target,
            found,
            name=f"size-confirm-{number}",
            statistic=first.capacity.statistic,
            limits_us=wish.limits_us,
        )
        require_all_possible(Path("--confirm"), {request.name: request}, local=True)
        expected = f"{words.rate(found.low)} to {words.throughput(found.high)} predicted here"
        click.echo(f"confirming: {target_words(option.target)}, {expected}", err=True)
        if run_here([(request, place)], None):
            raise KeyboardInterrupt
        failure = read_model(place / RESULT, RunResult).failure
        if failure is not None:
            raise PlimsollError(f"{place}: the run failed: {failure.cause}")
        run = read(place)
        runs = {**runs, f"{folder.name}/{place.name}": run}
        made.append(confirmed(option, found, run, str(place)))
        click.echo(confirmed_line(made[-1]), err=True)
    return runs, tuple(made)


def _next(runs: dict[str, Measured], wish: Wish, prices: PriceTable) -> Option | None:
    """Choose the cheapest that is said to carry it; None: it was measured, or there is none."""
    options = options_of(runs, wish, prices)
    return None if not options or options[0].status == "measured" else options[0]
