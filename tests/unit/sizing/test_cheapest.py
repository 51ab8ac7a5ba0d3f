"""Which cell is measured next, and what may be said: never anything against a measurement."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.sizing.cheapest import Found, Standing, choose_candidate
from plimsoll.sizing.from_run import Evidence
from plimsoll.sizing.predict import Bound, Prediction

WANTED = 1000.0
BINDS = Bound(resource="storage_iops", ops_per_second=WANTED)


def held(low: float, safe: float, high: float) -> Standing:
    """Give a cell that was not run."""
    return Standing(predicted=prediction(low, safe, high))


def prediction(low: float, safe: float, high: float) -> Prediction:
    return Prediction(ops_per_second=safe, low=low, high=high, binds=BINDS, next=None, load=None)


def ran(measured: Evidence, predicted: Prediction | None = None) -> Standing:
    return Standing(measured, predicted)


BELOW = held(500, 600, 700)
PERHAPS = held(800, 900, 1100)
LIKELY = held(950, 1050, 1300)
SURE = held(1200, 1300, 1500)
UNKNOWN = Standing()
CARRIES, SHORT, SILENT = ran("carries"), ran("falls short"), ran("no answer")


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        # nothing is known: the middle says most
        ([UNKNOWN] * 5, Found("measure", 2)),
        ([UNKNOWN] * 4, Found("measure", 2)),
        ([UNKNOWN], Found("measure", 0)),
        # the cheapest that is held to carry it
        ([BELOW, SHORT, LIKELY, SURE], Found("measure", 2)),
        ([BELOW, SHORT, PERHAPS, SURE], Found("measure", 3)),
        # what is predicted is never the answer
        ([SURE, SHORT], Found("measure", 0)),
        ([SURE, CARRIES], Found("measure", 0)),
        # measured to carry it, and every cheaper one is out
        ([BELOW, SHORT, CARRIES, SURE], Found("decided", 2)),
        ([CARRIES, UNKNOWN, SURE], Found("decided", 0)),
        # one that may carry it is cheaper
        ([PERHAPS, held(900, 950, 1200), CARRIES], Found("measure", 1)),
        ([SHORT, PERHAPS, CARRIES], Found("measure", 1)),
        # of several the middle one, which halves them
        ([PERHAPS, PERHAPS, PERHAPS, BELOW, PERHAPS, CARRIES], Found("measure", 2)),
        # none does
        ([BELOW, SHORT, BELOW], Found("none")),
        ([SHORT, SHORT], Found("none")),
        # none is held to carry it, one may
        ([BELOW, PERHAPS, SHORT], Found("measure", 1)),
        # a run without an answer is none, and is not made again
        ([SILENT, CARRIES], Found("open", 1)),
        ([SILENT], Found("open")),
        ([ran("no answer", BELOW.predicted), CARRIES], Found("decided", 1)),
        ([SILENT, UNKNOWN, UNKNOWN], Found("measure", 2)),
        # two that leave nothing to predict from are enough
        ([SILENT, SILENT, UNKNOWN, UNKNOWN], Found("open")),
        # two noisy ones still say what others may do
        ([ran("no answer", PERHAPS.predicted), SILENT, PERHAPS, BELOW], Found("measure", 2)),
        # of a class nothing is predicted: it has to be measured
        ([UNKNOWN, SHORT, CARRIES], Found("measure", 0)),
    ],
)
def test_the_cheapest_that_is_held_to_carry_it_is_measured_until_it_is_decided(
    cells: list[Standing], found: Found
) -> None:
    assert choose_candidate(cells, WANTED) == found


figures = st.floats(1, 3000)
predictions = st.none() | st.tuples(figures, figures, figures).map(
    lambda three: prediction(*sorted(three))
)
standings = st.builds(
    Standing, st.none() | st.sampled_from(["carries", "falls short", "no answer"]), predictions
)


@given(st.lists(standings, max_size=12))
def test_no_decision_is_against_a_measurement_or_rests_on_a_prediction_alone(
    cells: list[Standing],
) -> None:
    found = choose_candidate(cells, WANTED)
    carrying = [i for i, cell in enumerate(cells) if cell.measured == "carries"]
    if found.outcome == "measure":
        assert found.candidate is not None
        assert cells[found.candidate].measured is None
        assert not carrying or found.candidate < carrying[0]
    if found.outcome == "decided":
        assert found.candidate == carrying[0]
        assert all(cell.is_out(WANTED) for cell in cells[: found.candidate])
    if found.outcome == "none":
        assert not carrying
        assert all(cell.is_out(WANTED) for cell in cells)
    if found.outcome == "open":
        assert found.candidate == (carrying[0] if carrying else None)
        assert any(cell.measured == "no answer" for cell in cells)


@st.composite
def matrices(draw: st.DrawFn) -> tuple[list[float], Callable[[int, int], Prediction | None]]:
    """Give cells' true figures, and predictions of them whose intervals may even be wrong."""
    truths = draw(st.lists(figures, min_size=1, max_size=12))
    errors = draw(st.lists(st.floats(0.3, 3), min_size=len(truths), max_size=len(truths)))

    def predicted(cell: int, runs: int) -> Prediction | None:
        safe = truths[cell] * errors[cell] ** (1 / runs) if runs else None
        return None if safe is None else prediction(0.8 * safe, safe, 1.2 * safe)

    return truths, predicted


@given(matrices(), st.sets(st.integers(0, 11)))
def test_it_ends_within_the_cells_whatever_runs_and_predictions_say(
    matrix: tuple[list[float], Callable[[int, int], Prediction | None]], failing: set[int]
) -> None:
    truths, predicted = matrix
    known: dict[int, Evidence] = {}
    while True:
        told = sum(one != "no answer" for one in known.values())
        cells = [Standing(known.get(i), predicted(i, told)) for i in range(len(truths))]
        found = choose_candidate(cells, WANTED)
        if found.outcome != "measure":
            break
        assert found.candidate is not None
        assert found.candidate not in known
        carries: Evidence = "carries" if truths[found.candidate] >= WANTED else "falls short"
        known[found.candidate] = "no answer" if found.candidate in failing else carries
    assert len(known) <= len(truths)
    if found.outcome == "decided":
        assert found.candidate is not None
        assert truths[found.candidate] >= WANTED


@pytest.mark.parametrize("boundary", range(13))
def test_of_twelve_cells_about_three_are_measured(boundary: int) -> None:
    """A ladder from 2^-6 to 2^6 times the load, predicted within a fifth from one run on."""
    truths = [WANTED * 2.0 ** (i - boundary + 0.5) for i in range(12)]
    known: dict[int, Evidence] = {}
    while True:
        cells = [
            Standing(known.get(i), prediction(0.8 * t, 0.9 * t, 1.2 * t) if known else None)
            for i, t in enumerate(truths)
        ]
        found = choose_candidate(cells, WANTED)
        if found.outcome != "measure":
            break
        assert found.candidate is not None
        known[found.candidate] = "carries" if truths[found.candidate] >= WANTED else "falls short"
    assert found == (Found("decided", boundary) if boundary < 12 else Found("none"))
    assert len(known) <= 3
