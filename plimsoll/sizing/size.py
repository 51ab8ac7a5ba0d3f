"""The answer of `plimsoll size`: a ranking, computed from runs and a wish. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from plimsoll import words
from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.clouds.volume_rules import Cloud
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.descriptions import describe_volume
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.quoting.cloud_prices import CloudPrices, read_cloud_prices
from plimsoll.sizing.answer import (
    Confirmed,
    Growth,
    Horizon,
    Negative,
    Option,
    Outlook,
    Sizing,
)
from plimsoll.sizing.caps import OTHER_FAMILY, OTHER_MACHINE, Made
from plimsoll.sizing.clouds import CloudSizer
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.measured import Profile
from plimsoll.sizing.offers import change_volume, price_monthly
from plimsoll.sizing.predict import IO_CPU_S, OTHER_CONSTANTS, Bound
from plimsoll.sizing.rank import (
    NOTHING_MORE,
    Sizer,
    Wish,
    describe_bound,
    describe_carrying,
    describe_price,
    project_growth,
    rank_options,
)

# The assumptions of a prediction, in sentences for its reader.


def list_assumptions(run: Measured, *, here: bool = False) -> Iterator[str]:
    """Yield the assumptions of predictions that start from a run.

    Args:
        run: The run.
        here: Whether this machine's result is predicted instead of that of AWS.
    """
    profile = run.known.profile
    yield "the workload, rows and engine parameters stay the same, and callers wait for each reply"
    if run.result.request.background:
        yield "the background goes on as in the run; its I/Os and CPU count as the operations' own"
    if profile.ios is not None:
        yield _state_demand(profile)
    else:
        yield "the I/Os of an operation are not known, so no volume is predicted to be the limit"
    if here:
        yield "this machine's processors stand in for those of every class"
    else:
        yield from _state_processors(run)
    yield from _state_memory(run)
    yield from _state_storage(run)
    if profile.tails_under_way:
        yield (
            "latencies are to the mean time of an operation as they were in the run; because this"
            " workload writes, the worst case is the latency that the run had with as many"
            " operations in progress, and the lower of the two is the most likely"
        )
    if run.known.held is not None:
        resource, held = run.known.held
        yield (
            f"{words.RESOURCES[resource]} set the run's limit at {words.format_throughput(held)}:"
            " the"
            " run does not show how far another volume or class would move that limit"
        )
    factor = run.known.factor
    yield (
        f"the run measured {words.format_ratio(factor.mid)} times what the model says about it, so"
        " every"
        " prediction is multiplied by as much"
    )


def _state_demand(profile: Profile) -> str:
    assert profile.ios is not None  # noqa: S101 - asked by its caller
    each = profile.ios.at(profile.most_load)
    mid, low, high = map(words.format_three_figures, (each.mid, each.low, each.high))
    return (
        f"an operation takes {mid} I/Os ({low} to {high}) at the heaviest"
        " measured load, and as many at heavier loads; in the best case they keep falling"
    )


def _state_processors(run: Measured) -> Iterator[str]:
    if run.result.local:
        yield (
            "a vCPU of AWS does as much as a processor of this machine, within a factor of"
            f" {OTHER_MACHINE:g}: assumed, not measured"
        )
    else:
        yield (
            "a vCPU of another family does as much as one of the run's, within a factor of"
            f" {OTHER_FAMILY:g}: assumed, not measured"
        )
    yield "burstable classes have the CPU that their credits sustain"


def _state_memory(run: Measured) -> Iterator[str]:
    profile = run.known.profile
    if profile.own.pool_bytes is not None:
        yield (
            "a parameter sets the size of the buffer pool, so a class with more memory reads as"
            " much: raise the parameter to change that"
        )
    elif profile.pool is None:
        yield (
            "how page reads change with memory is not known, because the server does not report its"
            " pages, or missed none: classes with less memory are left out, and more memory is"
            " assumed to save no reads"
        )
    else:
        yield (
            "with more memory fewer pages are read, along a convex curve from what was measured to"
            " a pool that holds every page; each I/O that is saved also saves up to"
            f" {IO_CPU_S.high * 1e6:g} us of CPU time: assumed, not measured"
        )


def _state_storage(run: Measured) -> Iterator[str]:
    if isinstance(run.target, AuroraTarget):
        yield "Aurora's storage has no limit of its own, and no price here includes its I/Os"
        return
    constants = "the emulated volumes' constants" if run.result.local else "assumed constants"
    exact = "" if run.result.local else f", within a factor of {OTHER_CONSTANTS:g}"
    yield f"an I/O on an idle volume of another type takes as long as {constants} say{exact}"
    yield "gp2 is predicted without burst credits, instances at the rate that they sustain"


def create_sizer(runs: Mapping[str, Measured], wish: Wish, prices: PriceTable) -> Sizer:
    """Create the sizer, which predicts from the run nearest to the answer."""
    ground, first = choose_ground(runs), next(iter(runs.values()))
    return Sizer(ground.known, first.target, wish, prices, local=ground.result.local)


def choose_ground(runs: Mapping[str, Measured]) -> Measured:
    """Return the last run with a figure, as it is nearest to the answer; else the first run."""
    told = [
        run
        for run in runs.values()
        if run.known.factor.mid and _exact_or_lower_figure(run) is not None
    ]
    return told[-1] if told else next(iter(runs.values()))


def size(
    runs: Mapping[str, Measured],
    wish: Wish,
    prices: PriceTable,
    *,
    statistic: Statistic,
    today: date,
    times_per_year: float | None = None,
    horizon_years: float | None = None,
    confirmed: Sequence[Confirmed] = (),
    clouds: Sequence[Cloud] = (),
    cloud_prices: CloudPrices | None = None,
    rates: Mapping[str, float] | None = None,
) -> Sizing:
    """Rank the targets that carry a load.

    Args:
        runs: The runs by name, in the order in which they were made; the user named the first.
        wish: The wanted load and limits.
        prices: The price table of the region.
        statistic: The latency statistic that the limits apply to.
        today: The date from which growth counts.
        times_per_year: The yearly growth factor of the load; None if it does not grow.
        horizon_years: Years after which the grown load has to be carried too; None if not asked.
        confirmed: The predictions that runs have checked.
        clouds: The clouds whose machines and databases are ranked too.
        cloud_prices: The prices of other clouds; None for the built-in ones.
        rates: How many units of a currency a dollar costs.
    """
    sizer = create_sizer(runs, wish, prices)
    measured = tuple(_describe_measured(name, run, sizer) for name, run in runs.items())
    options = rank_targets(runs, sizer)
    cannot = tuple(sizer.list_negatives(options))
    first = next(iter(runs.values()))
    best = options[0] if options else None
    horizon = None
    if times_per_year is not None and horizon_years is not None:
        horizon = _look_ahead(runs, wish, prices, times_per_year, horizon_years)
    return Sizing(
        run=next(iter(runs)),
        local=first.result.local,
        want_ops_per_second=wish.ops_per_second,
        required_ops_per_second=wish.required,
        headroom=wish.headroom,
        statistic=statistic,
        limits_us=dict(wish.limits_us),
        region=prices.region,
        as_of=min(
            (day for o in (*options, *measured) if (day := price_monthly(o.target, prices).as_of)),
            default=None,
        ),
        least_gib=wish.least_gib,
        demands=tuple((seen.load, seen.demand) for seen in choose_ground(runs).seen),
        factor=sizer.known.factor,
        options=options,
        measured=measured,
        cannot=cannot,
        confirmed=tuple(confirmed),
        growth=_project_growth(best, wish, times_per_year, today),
        clouds=CloudSizer(sizer, cloud_prices or read_cloud_prices(), rates or {}).rank(clouds)
        if clouds
        else None,
        horizon=horizon,
        warning=_warn_of(choose_ground(runs)),
        assumptions=tuple(list_assumptions(choose_ground(runs))),
        sentence=_write_sentence(options, wish, cannot),
    )


def _look_ahead(
    runs: Mapping[str, Measured],
    wish: Wish,
    prices: PriceTable,
    times_per_year: float,
    years: float,
) -> Horizon:
    """Rank the targets for the load after some years of growth; the data keep their size."""
    then = replace(wish, ops_per_second=wish.ops_per_second * times_per_year**years)
    sizer = create_sizer(runs, then, prices)
    options = rank_targets(runs, sizer)
    sentence = _write_sentence(options, then, tuple(sizer.list_negatives(options)))
    return Horizon(
        years=years, ops_per_second=then.ops_per_second, options=options, sentence=sentence
    )


def _warn_of(run: Measured) -> str | None:
    """Say why a run is weak ground for a purchase; None if it is not."""
    found = []
    if run.limiting is not None and run.limiting.resource in {"machine", "client"}:
        limit = words.RESOURCES[run.limiting.resource]
        found.append(f"{limit} set its limit, not the database")
    if off := run.result.request.limits.audits_off:
        found.append(f"audits that were switched off: {words.join_names(sorted(off))}")
    return f"the run is weak ground for a purchase: {'; '.join(found)}" if found else None


def rank_targets(runs: Mapping[str, Measured], sizer: Sizer) -> tuple[Option, ...]:
    """Rank the targets that carry a load, or may; a measured one replaces its own prediction."""
    measured = [_describe_measured(name, run, sizer) for name, run in runs.items()]
    known = [drop_initial_credits(option.target) for option in measured]
    predicted = [
        option
        for option in sizer.list_options()
        if drop_initial_credits(option.target) not in known
    ]
    return rank_options([*predicted, *(option for option in measured if option.carries)])


def drop_initial_credits(target: Made) -> Made:
    """Return a target without its volume's initial burst credits, which nobody can buy."""
    if isinstance(target, AuroraTarget):
        return target
    volume = target.volume.model_copy(update={"credits_start": None})
    return change_volume(target, volume)


def _exact_or_lower_figure(run: Measured) -> float | None:
    capacity = run.capacity
    return None if capacity.bound == "<" else capacity.max_sustainable_throughput_ops_per_second


def _describe_measured(name: str, run: Measured, sizer: Sizer) -> Option:
    """Describe a measured target.

    A run on one machine says nothing of a class's processors, so its target carries the load
    only if the model does not rule that out.
    """
    wish, price, figure = (
        sizer.wish,
        price_monthly(run.target, sizer.prices),
        _exact_or_lower_figure(run),
    )
    between, limiting = run.capacity.interval, run.limiting
    known = limiting is not None and figure is not None and limiting.resource != "unknown"
    enough = run.compare_with(wish.required) == "carries" and _holds_data(run.target, wish)
    if enough and run.result.local:
        enough = sizer.predict(run.target).high >= wish.required
    return Option(
        status="measured",
        target=run.target,
        usd_per_month=price.usd,
        items=price.items,
        ops_per_second=figure,
        low=between.low_ops_per_second if between else None,
        high=between.high_ops_per_second if between else None,
        binds=Bound(resource=limiting.resource, ops_per_second=figure)
        if known and limiting is not None and figure is not None
        else None,
        next=None,
        carries=enough,
        outlook=_judge_measured(run, wish, carries=enough),
        sure=figure is not None and run.capacity.bound == "=",
        run=name,
    )


def _judge_measured(run: Measured, wish: Wish, *, carries: bool) -> Outlook:
    if carries:
        return "carries"
    open_ended = run.compare_with(wish.required) == "no answer" and _holds_data(run.target, wish)
    return "may carry" if open_ended else "does not carry"


def _holds_data(target: Made, wish: Wish) -> bool:
    """Whether the volume is large enough for the data. Aurora's storage grows by itself."""
    return isinstance(target, AuroraTarget) or target.volume.size_gib >= wish.least_gib


def _project_growth(
    best: Option | None, wish: Wish, times_per_year: float | None, today: date
) -> Growth | None:
    if best is None or best.ops_per_second is None or times_per_year is None:
        return None
    predicted = best.status == "predicted" and best.low is not None
    return project_growth(
        best.low if predicted and best.low is not None else best.ops_per_second,
        wish.ops_per_second,
        headroom=wish.headroom,
        times_a_year=times_per_year,
        today=today,
        most_ops_per_second=best.high if predicted else None,
    )


def _write_sentence(options: Sequence[Option], wish: Wish, cannot: Sequence[Negative]) -> str:
    """Answer in one sentence: what to buy for how much, or why nothing will do."""
    if not options:
        why = f": {cannot[0].sentence.removeprefix(NOTHING_MORE)}" if cannot else ""
        return f"nothing carries {wish.in_words}{why}"
    best = options[0]
    name, usd = f"{name_purchase(best.target)},", best.usd_per_month
    figures = "; ".join(_describe_figures(best))
    if best.outlook != "carries":
        may = describe_carrying(name, wish, usd, "may carry")
        return f"nothing surely carries it; {may}: {figures}"
    bought = f"{describe_carrying(name, wish, usd)}: {figures}"
    cheaper = next((option for option in options if option.outlook == "may carry"), None)
    if cheaper is None:
        return bought
    price = describe_price(cheaper.usd_per_month)
    return f"{bought}; {name_purchase(cheaper.target)}, may carry it {price}"


def _describe_figures(best: Option) -> Iterator[str]:
    line = words.format_throughput(best.ops_per_second)
    if best.status == "measured":
        yield f"{line} measured"
    elif best.low is not None and best.high is not None:
        yield f"{line} predicted, {words.format_rate(best.low)} to {words.format_rate(best.high)}"
    if best.binds is not None:
        yield f"{describe_bound(best.binds)} binds first"
    if best.next is not None:
        yield (
            f"then {describe_bound(best.next)} at"
            f" {words.format_throughput(best.next.ops_per_second)}"
        )


def name_purchase(target: Made) -> str:
    """Name what is bought: `db.m5.large, gp3 400 GiB`."""
    if isinstance(target, AuroraTarget):
        return f"{target.instance_class}, {words.AURORA_STORAGE[target.storage]} storage"
    return f"{target.instance_class}, {describe_volume(target.volume)}"
