"""What is known of each cell of a matrix: measured, or predicted from the runs before it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.boundary import Boundary, BoundaryCell, BoundaryOutcome, CellState, Forecast
from plimsoll.model.prices import PriceTable
from plimsoll.model.steps import Statistic
from plimsoll.sizing.assumptions import assumptions
from plimsoll.sizing.caps import Made
from plimsoll.sizing.cheapest import Evidence, Found, Standing, next_cell
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.predict import Prediction
from plimsoll.sizing.prices import monthly
from plimsoll.sizing.size import ground_of, sizer_of
from plimsoll.sizing.sizing import Wish, bound_words

# by cell, in the order in which they were begun; a text: why one says nothing
Runs = Mapping[int, Measured | str]


@dataclass(frozen=True)
class Candidate:
    """A cell that may be bought.

    Attributes:
        index: In the order of the axes.
        name: Of the cell.
        target: Its own.
        usd_per_month: By list prices; None: one is missing.
    """

    index: int
    name: str
    target: Made
    usd_per_month: float | None


def by_price(targets: Mapping[str, Made], prices: PriceTable) -> tuple[Candidate, ...]:
    """Order cells, cheapest first; of one price in the order of the axes.

    Args:
        targets: By the cells' names, in the order of the axes.
        prices: Of the region.
    """
    found = [
        Candidate(index, name, target, monthly(target, prices).usd)
        for index, (name, target) in enumerate(targets.items())
    ]
    return tuple(
        sorted(found, key=lambda one: (one.usd_per_month is None, one.usd_per_month or 0.0))
    )


@dataclass(frozen=True)
class Survey:
    """A matrix between two runs, or after the last.

    Attributes:
        cells: Cheapest first.
        runs: That were made.
        wish: What is wanted.
        prices: By which cells are ordered.
    """

    cells: Sequence[Candidate]
    runs: Runs
    wish: Wish
    prices: PriceTable

    def standings(self) -> list[Standing]:
        """Say what is known of each cell; of one that was measured, what was predicted before."""
        return [
            Standing(
                self._evidence(cell.index) if cell.index in self.runs else None,
                self._prediction(cell),
            )
            for cell in self.cells
        ]

    def found(self) -> Found:
        """Say which cell comes next, or what is known; a cell by its place in `cells`."""
        return next_cell(self.standings(), self.wish.required)

    def _evidence(self, index: int) -> Evidence:
        """Hold a run's figure against the line that is needed.

        A lower bound below it, and an upper bound above it, say nothing.
        """
        run = self.runs[index]
        if isinstance(run, str):
            return "no answer"
        figure = run.capacity.max_sustainable_throughput_ops_per_second
        if figure is None:
            return "no answer"
        enough, bound = figure >= self.wish.required, run.capacity.bound
        if (bound == "<" and enough) or (bound == ">=" and not enough):
            return "no answer"
        return "carries" if enough else "falls short"

    def _prediction(self, cell: Candidate) -> Prediction | None:
        """Predict a cell from the nearest run before its own; None where that does not say enough.

        The nearest by price, of those with a figure where there is one; of two the later. Of a run
        on one machine what that would measure is predicted, its processors in place of the class's.
        """
        before: dict[int, Measured] = {}
        for index, run in self.runs.items():
            if isinstance(run, str):
                continue
            if index == cell.index and self._evidence(index) != "no answer":
                break
            before[index] = run
        if not before:
            return None
        places = {one.index: place for place, one in enumerate(self.cells)}
        told = [index for index in before if _has_figure(before[index])] or list(before)
        ground = min(reversed(told), key=lambda index: abs(places[index] - places[cell.index]))
        sizer = sizer_of({str(ground): before[ground]}, self.wish, self.prices)
        if not sizer.knows_memory_of(cell.target):
            return None
        own = sizer.known.profile.own.processors
        here = round(own) if sizer.local and own is not None else None
        return sizer.prediction(cell.target, processors=here)


def _has_figure(run: Measured) -> bool:
    return run.capacity.max_sustainable_throughput_ops_per_second is not None


def boundary_of(survey: Survey, statistic: Statistic) -> Boundary:
    """Sum up a search; the limits are of `statistic`."""
    standings, found, wish = survey.standings(), survey.found(), survey.wish
    told = {index: run for index, run in survey.runs.items() if not isinstance(run, str)}
    ground = ground_of({str(i): run for i, run in told.items()}) if told else None
    cells = tuple(
        _cell(cell, standing, survey.runs.get(cell.index), wish.required)
        for cell, standing in zip(survey.cells, standings, strict=True)
    )
    outcomes: dict[str, BoundaryOutcome] = {"decided": "decided", "none": "none carries it"}
    chosen = next((c for c in cells if c.status == "measured" and c.carries), None)
    return Boundary(
        want_ops_per_second=wish.ops_per_second,
        headroom=wish.headroom,
        required_ops_per_second=wish.required,
        statistic=statistic,
        limits_us=dict(wish.limits_us),
        region=survey.prices.region,
        outcome=outcomes.get(found.outcome, "not decided"),
        cell=chosen.name if chosen else None,
        runs=len(survey.runs),
        sentence=_sentence(found, chosen, cells, wish),
        stopped=_stopped(found, cells),
        cells=cells,
        assumptions=tuple(assumptions(ground, here=ground.result.local)) if ground else (),
    )


def _cell(
    cell: Candidate, standing: Standing, run: Measured | str | None, required: float
) -> BoundaryCell:
    predicted, measured = standing.predicted, standing.measured
    capacity = run.capacity if isinstance(run, Measured) else None
    figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
    bound = capacity.bound if capacity else None
    status: CellState = "predicted" if predicted else "left out"
    carries = None
    if measured is not None:
        status = "measured" if figure is not None else "no answer"
        carries = None if measured == "no answer" else measured == "carries"
    elif predicted is not None and predicted.low >= required:
        carries = True
    elif standing.is_out(required):
        carries = False
    exact = figure if bound == "=" else None
    return BoundaryCell(
        name=cell.name,
        usd_per_month=cell.usd_per_month,
        status=status,
        carries=carries,
        measured_ops_per_second=figure,
        bound=bound,
        predicted=_forecast(predicted) if predicted else None,
        error=predicted.ops_per_second / exact - 1 if exact and predicted else None,
        why=_why(run, figure, measured),
    )


def _why(run: Measured | str | None, figure: float | None, measured: Evidence | None) -> str | None:
    """Say why a run does not tell whether its cell carries the load; None where it does."""
    if measured != "no answer" or run is None:
        return None
    if isinstance(run, str):
        return run
    if figure is None:
        return f"{run.capacity.verdict}: {run.capacity.summary}"
    return "its search ended before the load line that is needed"


def _forecast(found: Prediction) -> Forecast:
    return Forecast(
        ops_per_second=found.ops_per_second,
        low=found.low,
        high=found.high,
        binds=bound_words(found.binds),
    )


def _sentence(
    found: Found, chosen: BoundaryCell | None, cells: Sequence[BoundaryCell], wish: Wish
) -> str:
    wanted = words.throughput(wish.ops_per_second)
    spare = f" with {words.percent(wish.headroom)} to spare" if wish.headroom else ""
    if found.outcome == "none":
        return f"None of the {len(cells)} cells carries {wanted}{spare}: {_cheaper(cells)}."
    if chosen is None:
        return f"Which cell is the cheapest that carries {wanted}{spare} is not decided."
    usd = chosen.usd_per_month
    price = "" if usd is None else f" for {words.usd(usd)} a month"
    figure = words.bounded(words.throughput(chosen.measured_ops_per_second), chosen.bound)
    first = f"{chosen.name} carries {wanted}{spare}{price}: {figure} measured"
    if found.outcome != "decided":
        return f"{first}; whether a cheaper cell does is not decided."
    below = cells[: cells.index(chosen)]
    return f"{first}; {f'no cheaper cell does: {_cheaper(below)}' if below else 'none is cheaper'}."


def _cheaper(cells: Sequence[BoundaryCell]) -> str:
    """Say how that is known of cells which do not carry the load."""
    ran = sum(cell.status == "measured" for cell in cells)
    told = [
        f"{ran} measured" if ran else "",
        f"{len(cells) - ran} predicted, even at the high end of the interval"
        if len(cells) > ran
        else "",
    ]
    return ", ".join(part for part in told if part)


def _stopped(found: Found, cells: Sequence[BoundaryCell]) -> str:
    of_all = f"{len([c for c in cells if c.status in {'measured', 'no answer'}])} of {len(cells)}"
    silent = [cell.name for cell in cells if cell.status == "no answer"]
    unsure = [c.name for c in cells if c.status == "measured" and c.carries is None]
    if found.outcome == "measure":
        return f"It ended before that was decided, with {of_all} cells run."
    if found.outcome != "open":
        return f"Decided with {of_all} cells run."
    whose = words.listed([*silent, *unsure])
    return f"Open with {of_all} cells run: what ran of {whose} does not say whether it carries it."
