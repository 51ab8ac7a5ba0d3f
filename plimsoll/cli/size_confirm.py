"""Runs on this machine that confirm the boundary which `plimsoll size` predicts."""

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
from plimsoll.report.size_tables import describe_confirmation
from plimsoll.requests.checked_request import check_request
from plimsoll.sizing.answer import Confirmed
from plimsoll.sizing.cheapest import choose_option
from plimsoll.sizing.confirmation import compare_with_run, write_confirming_request
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.rank import Wish
from plimsoll.sizing.size import create_sizer, name_purchase

MOST = 2  # runs; more would hardly decide what two have not


def confirm_prediction(
    runs: dict[str, Measured],
    wish: Wish,
    prices: PriceTable,
    folder: Path,
    read: Callable[[Path], Measured],
) -> tuple[dict[str, Measured], tuple[Confirmed, ...]]:
    """Measure the cheapest target predicted to carry the load, until a measured one carries it.

    Each run's own figures replace the model's correction, which improves the next prediction.

    Args:
        runs: The runs by name; the first is the original one.
        wish: The load to carry.
        prices: The prices for the ranking.
        folder: The folder for the runs' folders, each named by its number.
        read: The function that reads a run.

    Returns:
        All runs, and the prediction and measurement of each new one.

    Raises:
        UsageError: This machine cannot stand in for the target.
        PlimsollError: A run failed, or was interrupted.
    """
    first = next(iter(runs.values()))
    made: list[Confirmed] = []
    while len(made) < MOST:
        sizer = create_sizer(runs, wish, prices)
        option = choose_option(runs, sizer)
        if option is None:
            break
        number = 1 + max((int(made.name) for made in folder.glob("[0-9]*")), default=0)
        place = folder / str(number)
        found = sizer.predict_run(option.target)
        request = write_confirming_request(
            first.result.request,
            option.target,
            found,
            name=f"size-confirm-{number}",
            statistic=first.capacity.statistic,
            limits_us=wish.limits_us,
        )
        checked = check_request(request)
        require_all_possible(Path("--confirm"), {request.name: checked}, local=True)
        expected = (
            f"{words.format_rate(found.low)} to {words.format_throughput(found.high)} predicted"
            " here"
        )
        click.echo(f"confirming: {name_purchase(option.target)}, {expected}", err=True)
        if run_here([(checked, place)], None):
            raise KeyboardInterrupt
        failure = read_model(place / RESULT, RunResult).failure
        if failure is not None:
            raise PlimsollError(f"{place}: the run failed: {failure.cause}")
        run = read(place)
        runs = {**runs, f"{folder.name}/{place.name}": run}
        made.append(compare_with_run(option, found, run, str(place)))
        click.echo(describe_confirmation(made[-1]), err=True)
    return runs, tuple(made)
