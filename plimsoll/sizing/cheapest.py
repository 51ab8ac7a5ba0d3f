"""The search for the cheapest target that carries a load: what to measure next, and its end. Pure.

An experiment searches the cells of its matrix in this way, `plimsoll size --confirm` the targets of
its ranking. A candidate is ruled out if its run fell short, or while even the high end of its
prediction falls short. The search is decided when a candidate was measured to carry the load and
every cheaper one is ruled out. A prediction alone never proves that a target carries the load.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from plimsoll import words
from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.boundary import (
    Boundary,
    BoundaryCell,
    BoundaryOutcome,
    CellState,
    Forecast,
)
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.requests.cells import CheckedExperiment
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.sizing.answer import Option
from plimsoll.sizing.caps import Made, find_caps
from plimsoll.sizing.from_run import Evidence, Measured
from plimsoll.sizing.offers import price_monthly
from plimsoll.sizing.predict import Prediction
from plimsoll.sizing.rank import Sizer, Wish, describe_bound, describe_carrying, sort_options
from plimsoll.sizing.size import choose_ground, create_sizer, list_assumptions, rank_targets

# after this many runs without a usable result, a further one would not help
WITHOUT_GROUND_MOST = 2


@dataclass(frozen=True)
class Standing:
    """What is known of a candidate.

    Attributes:
        measured: The result of its run; None if it was not run.
        predicted: The predicted load line; None if there is no run to predict from.
    """

    measured: Evidence | None = None
    predicted: Prediction | None = None

    def is_out(self, required: float) -> bool:
        """Whether it is known not to sustain this many operations per second."""
        if self.measured in {"carries", "falls short"}:
            return self.measured == "falls short"
        return self.predicted is not None and self.predicted.high < required


@dataclass(frozen=True)
class Found:
    """The next thing to do, or the result.

    Attributes:
        outcome: `measure` if the candidate should be run next; `decided` if it is the cheapest
            that carries the load; `none` if no candidate does; `open` if runs and predictions
            cannot decide.
        candidate: The index of that candidate; None if there is none.
    """

    outcome: Literal["measure", "decided", "none", "open"]
    candidate: int | None = None

    @property
    def to_measure(self) -> int | None:
        """The index of the candidate to run next; None if the search has ended."""
        return self.candidate if self.outcome == "measure" else None


def choose_candidate(known: Sequence[Standing], required: float) -> Found:
    """Choose the candidate to measure next.

    Args:
        known: What is known of each candidate, cheapest first.
        required: The load line that is needed, in operations per second.

    Returns:
        The next step of the search. A candidate to measure is always one that was not run yet.
    """
    carrying = next((i for i, one in enumerate(known) if one.measured == "carries"), None)
    asked = range(len(known) if carrying is None else carrying)
    unsure = [i for i in asked if not known[i].is_out(required)]
    if not unsure:
        return Found("none") if carrying is None else Found("decided", carrying)
    untried = [i for i in unsure if known[i].measured is None]
    if not untried or _is_futile(known):
        return Found("open", carrying)
    carried = carrying is not None
    return Found("measure", _pick_candidate(known, untried, required, carried=carried))


def _is_futile(known: Sequence[Standing]) -> bool:
    """Whether several runs gave nothing to predict from. A noisy run still predicts others."""
    run = [one for one in known if one.measured is not None]
    silent = all(one.measured == "no answer" for one in run)
    return len(run) >= WITHOUT_GROUND_MOST and silent and not any(one.predicted for one in known)


def _pick_candidate(
    known: Sequence[Standing], untried: Sequence[int], required: float, *, carried: bool
) -> int:
    """Choose the candidate whose run tells the most.

    This is the cheapest one that is predicted to carry the load. If a dearer one was already
    measured to carry it, or nothing is predicted, the middle one is taken where that is cheaper:
    its result halves the rest. If none is predicted to carry the load, the one that comes nearest
    is taken.
    """
    told = {i: found.ops_per_second for i in untried if (found := known[i].predicted) is not None}
    likely = [i for i, ops_per_second in told.items() if ops_per_second >= required]
    middle = untried[len(untried) // 2]
    if carried or not told:
        return min([middle, *likely])
    return likely[0] if likely else max(told, key=lambda i: told[i])


def choose_option(runs: Mapping[str, Measured], sizer: Sizer) -> Option | None:
    """Return the ranked target to measure next; None if none is left to measure."""
    ranking = sort_options(rank_targets(runs, sizer))
    known = [
        Standing("carries")
        if option.status == "measured"
        else Standing(predicted=sizer.predict(option.target))
        for option in ranking
    ]
    chosen = choose_candidate(known, sizer.wish.required).to_measure
    return None if chosen is None else ranking[chosen]


# Preconditions: every cell can be predicted and priced, and has latency limits.


def require_searchable(checked: CheckedExperiment, prices: PriceTable) -> None:
    """Refuse an impossible search for the boundary; any other experiment passes.

    Raises:
        UsageError: A cell cannot be predicted or priced. Names the field that caused it.
    """
    if checked.experiment.want is not None:
        checked.apply(partial(_require_cell_possible, prices=prices))


def _require_cell_possible(checked: CheckedRequest, prices: PriceTable) -> None:
    if complaints := list(_find_complaints(checked, prices)):
        raise UsageError(*complaints)


def _find_complaints(checked: CheckedRequest, prices: PriceTable) -> Iterator[Complaint]:
    request = checked.request
    if request.toggle is not None:
        yield Complaint(("toggle",), "cannot go with search: boundary, since it has two answers")
    for name in checked.workload.operation_names:
        if name not in request.limits.limits_us:
            path = ("limits", "limits_us", name)
            problem = "is missing: search: boundary needs a latency limit for every operation"
            yield Complaint(path, problem)
    target = request.target
    if isinstance(target, EndpointTarget):
        return  #  the model has already refused it
    if not _has_known_limits(target):
        field = "instance_type" if isinstance(target, CassandraTarget) else "instance_class"
        problem = "has limits that are not known here, so it cannot be predicted"
        yield Complaint(("target", field), problem, target.instance_class)
    if missing := [line.what for line in price_monthly(target, prices).items if line.usd is None]:
        problem = f"cannot be ordered by price: no price is known for {', '.join(missing)}"
        yield Complaint(("target",), problem)


def _has_known_limits(target: Made) -> bool:
    try:
        return find_caps(target).processors is not None
    except UsageError:
        return False


# What is known of each cell: measured, or predicted from the runs before it.


# results by cell, in the order of the runs; a text is the reason why a run has none
Runs = Mapping[int, Measured | str]


@dataclass(frozen=True)
class Candidate:
    """A cell that may be bought.

    Attributes:
        index: The cell's position in the order of the axes.
        name: The cell's name.
        target: The cell's target.
        usd_per_month: The list price; None if a price is missing.
    """

    index: int
    name: str
    target: Made
    usd_per_month: float | None


def sort_by_price(targets: Mapping[str, Made], prices: PriceTable) -> tuple[Candidate, ...]:
    """Sort cells by price, those of equal price in the order of the axes.

    Args:
        targets: The targets by cell name, in the order of the axes.
        prices: The price table of the region.
    """
    found = [
        Candidate(index, name, target, price_monthly(target, prices).usd)
        for index, (name, target) in enumerate(targets.items())
    ]
    return tuple(
        sorted(found, key=lambda one: (one.usd_per_month is None, one.usd_per_month or 0.0))
    )


@dataclass(frozen=True)
class Survey:
    """A matrix between two runs, or after the last.

    Attributes:
        cells: The cells, cheapest first.
        runs: The runs made so far.
        wish: The wanted load and limits.
        prices: The prices by which the cells are ordered.
    """

    cells: Sequence[Candidate]
    runs: Runs
    wish: Wish
    prices: PriceTable

    def list_standings(self) -> list[Standing]:
        """Return what is known of each cell; for a measured one also its earlier prediction."""
        return [
            Standing(
                self._evidence(cell.index) if cell.index in self.runs else None,
                self._prediction(cell),
            )
            for cell in self.cells
        ]

    def choose_next(self) -> Found:
        """Return the cell to run next, or the result; the candidate is an index into `cells`."""
        return choose_candidate(self.list_standings(), self.wish.required)

    def _evidence(self, index: int) -> Evidence:
        run = self.runs[index]
        return "no answer" if isinstance(run, str) else run.compare_with(self.wish.required)

    def _prediction(self, cell: Candidate) -> Prediction | None:
        """Predict a cell from the run nearest in price that was made before its own.

        Runs with a figure are preferred; of two equally near, the later one is taken. None if no
        run says enough.
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
        sizer = create_sizer({str(ground): before[ground]}, self.wish, self.prices)
        if not sizer.knows_memory_of(cell.target):
            return None
        return sizer.predict_run(cell.target)


def _has_figure(run: Measured) -> bool:
    return run.capacity.max_sustainable_throughput_ops_per_second is not None


def summarize_boundary(survey: Survey, statistic: Statistic) -> Boundary:
    """Summarize a search; `statistic` is the latency statistic that has the limits."""
    standings, wish = survey.list_standings(), survey.wish
    found = choose_candidate(standings, wish.required)
    told = {index: run for index, run in survey.runs.items() if not isinstance(run, str)}
    ground = choose_ground({str(i): run for i, run in told.items()}) if told else None
    cells = tuple(
        _describe_cell(cell, standing, survey.runs.get(cell.index), wish.required)
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
        sentence=_write_sentence(found, chosen, cells, wish),
        stopped=_describe_end(found, cells),
        cells=cells,
        assumptions=tuple(list_assumptions(ground, here=ground.result.local)) if ground else (),
    )


def _describe_cell(
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
    return BoundaryCell(
        name=cell.name,
        usd_per_month=cell.usd_per_month,
        status=status,
        carries=carries,
        measured_ops_per_second=figure,
        bound=bound,
        predicted=_make_forecast(predicted) if predicted else None,
        error=run.compute_error(predicted.ops_per_second)
        if predicted and isinstance(run, Measured)
        else None,
        why=_explain_no_answer(run, figure, measured),
    )


def _explain_no_answer(
    run: Measured | str | None, figure: float | None, measured: Evidence | None
) -> str | None:
    """Return why a run does not decide whether its cell carries the load; None if it does."""
    if measured != "no answer" or run is None:
        return None
    if isinstance(run, str):
        return run
    if figure is None:
        return run.capacity.sentence
    return "its search ended below the load line that is needed"


def _make_forecast(found: Prediction) -> Forecast:
    return Forecast(
        ops_per_second=found.ops_per_second,
        low=found.low,
        high=found.high,
        binds=describe_bound(found.binds),
    )


def _write_sentence(
    found: Found, chosen: BoundaryCell | None, cells: Sequence[BoundaryCell], wish: Wish
) -> str:
    if found.outcome == "none":
        ruled_out = _describe_ruled_out(cells)
        return f"None of the {len(cells)} cells carries {wish.in_words}: {ruled_out}."
    if chosen is None:
        return f"Which cell is the cheapest that carries {wish.in_words} is not decided."
    figure = words.prepend_bound(
        words.format_throughput(chosen.measured_ops_per_second), chosen.bound
    )
    bought = describe_carrying(chosen.name, wish, chosen.usd_per_month)
    first = f"{bought}: {figure} measured"
    if found.outcome != "decided":
        return f"{first}; whether a cheaper cell does is not decided."
    below = cells[: cells.index(chosen)]
    return (
        f"{first};"
        f" {f'no cheaper cell does: {_describe_ruled_out(below)}' if below else 'none is cheaper'}."
    )


def _describe_ruled_out(cells: Sequence[BoundaryCell]) -> str:
    """Describe how these cells were ruled out: measured or predicted not to carry the load."""
    ran = sum(cell.status == "measured" for cell in cells)
    told = [
        f"{ran} measured" if ran else "",
        f"{len(cells) - ran} predicted, even at the high end of the interval"
        if len(cells) > ran
        else "",
    ]
    return ", ".join(part for part in told if part)


def _describe_end(found: Found, cells: Sequence[BoundaryCell]) -> str:
    of_all = f"{len([c for c in cells if c.status in {'measured', 'no answer'}])} of {len(cells)}"
    silent = [cell.name for cell in cells if cell.status == "no answer"]
    unsure = [c.name for c in cells if c.status == "measured" and c.carries is None]
    if found.outcome == "measure":
        return f"The search ended before that was decided, with {of_all} cells run."
    if found.outcome != "open":
        return f"Decided with {of_all} cells run."
    whose = words.join_names([*silent, *unsure])
    return (
        f"Open with {of_all} cells run: what was measured of {whose} does not show whether the load"
        " is carried."
    )
