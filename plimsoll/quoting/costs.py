"""What a finished run cost, at the prices of its own quote. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import fsum

from plimsoll import words
from plimsoll.model.aws.prices import Item, Price
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.quote import BilledIo, CostLine, IoCost, Quote, RunCost
from plimsoll.model.run.run_record import RunRecord
from plimsoll.model.timings import AWS_TIMINGS
from plimsoll.quoting.charges import MILLION, Charge, compute_io_cost, list_charges, price_billed_io
from plimsoll.quoting.extents import bill_client_s, compute_extent
from plimsoll.quoting.quotes import price_charge

METHOD = (
    "list prices of quote.json times the seconds that each resource was used: the target from the"
    " request for its creation until its deletion was seen, load clients for their steps and"
    f" {words.format_duration(AWS_TIMINGS.lead_s(0))} before each, loaders from the schema to the"
    " first"
    " step; nothing is read from the bill"
)
METHOD_ON_ONE_MACHINE = (
    "nothing was spent: this is the list price per hour of the same target on AWS; dollars per"
    " million operations relate it to this machine's throughput, for comparing targets"
)


def compute_usd_per_million(capacity: Capacity | None, usd_per_hour: float | None) -> float | None:
    """Return the cost of a million operations at capacity, in US dollars.

    None unless both are known and the database sustains the figure (not for an upper bound).
    """
    if capacity is None or usd_per_hour is None or capacity.bound not in {"=", ">="}:
        return None
    return divide_cost(usd_per_hour, capacity.max_sustainable_throughput_ops_per_second)


def divide_cost(usd_per_hour: float | None, ops_per_second: float | None) -> float | None:
    """Return the cost of a million operations in US dollars; None unless both are known."""
    if usd_per_hour is None or not ops_per_second:
        return None
    return usd_per_hour / (ops_per_second * 3600 / 1e6)


def estimate_run_cost(
    quote: Quote,
    request: Request,
    record: RunRecord,
    plans: Sequence[StepPlan],
    capacity: Capacity | None,
    *,
    billed: BilledIo | None = None,
) -> RunCost:
    """Estimate what a run cost; for a run on one machine, the hourly price of its target on AWS.

    Args:
        quote: The run's quote.
        request: What was asked for.
        record: The run's record, which has the times of its phases.
        plans: The plans of the steps.
        capacity: The run's answer; None if there is none.
        billed: The I/Os that Aurora counted; None for other targets, or if not known.
    """
    lines = list_cost_lines(quote, request, record, plans, billed=billed)
    hourly = quote.target_usd_per_hour
    io = compute_io_cost(quote.io, billed, capacity) if quote.io else None
    return RunCost(
        basis="as-if-on-aws" if record.local else "aws",
        usd=None if record.local else add_usd(lines),
        items=() if record.local else lines,
        missing=tuple(quote.missing),
        target_usd_per_hour=hourly,
        usd_per_million_operations=_add_io_usd(
            compute_usd_per_million(capacity, hourly), quote, io
        ),
        io=io,
        region=quote.region,
        as_of=quote.as_of,
        method=METHOD_ON_ONE_MACHINE if record.local else METHOD,
    )


def list_cost_lines(
    quote: Quote,
    request: Request,
    record: RunRecord,
    plans: Sequence[StepPlan],
    *,
    billed: BilledIo | None = None,
) -> tuple[CostLine, ...]:
    """List a run's charges, from the times in its record and the plans of its steps."""
    prices = {(line.price.item, line.price.name): line.price for line in quote.lines}
    used = compute_extent(
        target_s=_count_seconds_between(record.provision_at, record.deleted_at or record.ended_at)
        if record.stack_id
        else 0.0,
        loading_client_s=request.prepare.clients
        * _count_seconds_between(record.prepare_at, record.step_at or record.ended_at),
        step_clients=[
            (plan.clients, bill_client_s(plan.warmup_s + plan.duration_s, plan.clients))
            for plan in plans
        ],
        polls=(
            _count_seconds_between(record.provision_at, record.target_ready_at)
            + _count_seconds_between(record.conclude_at, record.teardown_asked_at)
            + _count_seconds_between(record.teardown_asked_at, record.deleted_at)
        )
        / AWS_TIMINGS.poll_s,
    )
    lines = tuple(_make_cost_line(charge, prices) for charge in list_charges(request.target, used))
    if quote.io is None or not quote.io.charged:
        return lines
    ios = None if billed is None else billed.ios / MILLION
    usd = price_billed_io(quote.io, billed)
    return (*lines, CostLine(what="I/Os of its storage", quantity=ios, unit="million", usd=usd))


def _add_io_usd(usd: float | None, quote: Quote, io: IoCost | None) -> float | None:
    """Add the price of a million operations' I/Os, if they are charged."""
    if usd is None or io is None or quote.io is None or not quote.io.charged:
        return usd
    each = io.usd_per_million_operations
    return None if each is None else usd + each


def add_usd(lines: Sequence[CostLine]) -> float | None:
    """Add costs; None if one is unknown."""
    known = [line.usd for line in lines if line.usd is not None]
    return fsum(known) if len(known) == len(lines) else None


def _make_cost_line(charge: Charge, prices: Mapping[tuple[Item, str], Price]) -> CostLine:
    price = prices.get((charge.item, charge.name)) or Price(
        item=charge.item, name=charge.name, usd=None, unit="", source=None
    )
    return CostLine(
        what=charge.what,
        quantity=charge.quantity,
        unit=price.unit,
        usd=price_charge(charge, price),
    )


def _count_seconds_between(start: datetime | None, end: datetime | None) -> float:
    return max(0.0, (end - start).total_seconds()) if start and end else 0.0
