"""The quote: how long a request will take and what it costs, before anything is made. Pure."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from math import fsum
from typing import assert_never

from plimsoll import words
from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.aws.instances import instance_limits, list_known_families
from plimsoll.model.aws.prices import Price, PriceTable
from plimsoll.model.rds_versions import (
    describe_extended_support,
    major_of,
    rds_majors,
    require_known,
)
from plimsoll.model.request.cassandra_target import MOST_NODES_HERE, CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import Amounts, Quote, QuoteLine, add_amounts
from plimsoll.quoting import extents
from plimsoll.quoting.budget import divide_budget, require_sufficient_budget
from plimsoll.quoting.charges import (
    Charge,
    Extent,
    find_io_prices,
    list_charges,
    list_target_charges,
    write_io_notes,
)
from plimsoll.quoting.extents import (
    Given,
    estimate_duration,
    estimate_extents,
    find_dataset_source,
)
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.requests.client_connections import require_openable_connections

NOTES = (
    "On-demand list prices, without free tiers, reservations and taxes.",
    "Nothing of this was measured on AWS yet: the times are the assumptions beside them.",
    "Not included: the deployment's own costs, metrics in Timestream, logs, storage of results.",
)
# docs/costs.md names the source
BETWEEN_ZONES = (
    "If its nodes are in several zones, AWS charges the traffic between them and with the load"
    " clients, $0.01 per GB in each direction. Its amount is known only afterwards: no sum has it."
)


def estimate_quote(
    checked: CheckedRequest,
    prices: PriceTable,
    *,
    database_version: str | None = None,
    given: Given | None = None,
) -> Quote:
    """Estimate a run's time and cost.

    Args:
        checked: What is asked for.
        prices: The price table of the region.
        database_version: The version that RDS resolved the requested one to; None if RDS was not
            asked.
        given: The source of the dataset; None if the request alone decides it.

    Raises:
        UsageError: The budget cannot suffice.
    """
    request = checked.request
    given = given or find_dataset_source(request)
    length = estimate_duration(checked, given)
    ways = estimate_extents(request, length, given)
    lines = tuple(_make_lines(request, prices, ways))
    missing = tuple(dict.fromkeys(line.price.full_name for line in lines if line.usd is None))
    usd = None if missing else add_amounts(line.usd for line in lines if line.usd is not None)
    expected_s = fsum(phase.expected_s for phase in length.phases)
    limit_s = extents.estimate_longest_target_s(request)
    io = find_io_prices(request.target, prices)
    made = Quote(
        region=prices.region,
        database_version=database_version,
        as_of=find_oldest_price_date(line.price for line in lines),
        phases=length.phases,
        time_s=Amounts(
            least=min(length.step_s, limit_s),
            expected=min(expected_s, limit_s),
            most=min(fsum(phase.most_s for phase in length.phases), limit_s),
        ),
        steps=Amounts(least=length.steps[0], expected=length.steps[1], most=length.steps[2]),
        lines=lines,
        usd=usd,
        missing=missing,
        target_usd_per_hour=find_target_usd_per_hour(request, prices),
        io=io,
        budget_usd=request.budget_usd,
        notes=(*_write_notes(request, length, usd, given), *write_io_notes(io), *NOTES),
    )
    if request.budget_usd is not None:
        require_sufficient_budget(request.budget_usd, made)
    return made


def find_target_usd_per_hour(request: Request, prices: PriceTable) -> float | None:
    """Return a target's cost per hour; None if a price is missing, or for an endpoint."""
    hourly = list_target_charges(request.target, 3600.0)
    costs = [price_charge(charge, prices.price(charge.item, charge.name)) for charge in hourly]
    known = [usd for usd in costs if usd is not None]
    return fsum(known) if known and len(known) == len(costs) else None


def price_charge(charge: Charge, price: Price) -> float | None:
    """Price a charge; None if its price is unknown and the quantity is not 0."""
    if charge.quantity == 0:
        return 0.0
    return None if price.usd is None else charge.quantity * price.usd


def find_oldest_price_date(prices: Iterable[Price]) -> date | None:
    """Return the date of the oldest known price; None if none is known."""
    return min((p.source.as_of for p in prices if p.usd is not None and p.source), default=None)


def _make_lines(
    request: Request, prices: PriceTable, ways: tuple[Extent, Extent, Extent]
) -> Iterator[QuoteLine]:
    ways_charged = [list_charges(request.target, extent) for extent in ways]
    for least, expected, most in zip(*ways_charged, strict=True):
        price = prices.price(most.item, most.name)
        costs = [price_charge(charge, price) for charge in (least, expected, most)]
        known = [usd for usd in costs if usd is not None]
        yield QuoteLine(
            what=most.what,
            price=price,
            quantity=_order_amounts([charge.quantity for charge in (least, expected, most)]),
            usd=_order_amounts(known) if len(known) == len(costs) else None,
        )


def _order_amounts(three: list[float]) -> Amounts:
    least, expected, most = three
    most = max(least, most)
    return Amounts(least=least, expected=min(max(least, expected), most), most=most)


def note_extended_support(request: Request) -> tuple[str, ...]:
    """Return a note if RDS charges Extended Support for an old version; empty if it does not."""
    target = request.target
    if not isinstance(target, RdsTarget | AuroraTarget):
        return ()
    asked = target.extended_support
    note = describe_extended_support(
        target.engine, target.engine_version, on=find_today(), asked=asked
    )
    return () if note is None else (note,)


def _write_notes(
    request: Request, length: extents.Duration, usd: Amounts | None, given: Given
) -> Iterator[str]:
    if request.budget_usd is not None and usd is not None and request.budget_usd < usd.expected:
        yield (
            f"The budget of {words.format_unit_usd(request.budget_usd)} is less than what the run"
            " is"
            " expected to cost: it will probably end without a verdict."
        )
    expected_s = fsum(phase.expected_s for phase in length.phases)
    time_limit = words.format_duration(request.time_limit_s)
    if given == "prepared":
        if expected_s > extents.estimate_longest_target_s(request):
            yield (
                f"Preparing is expected to take {words.format_duration(expected_s)}, more than its"
                " time"
                f" limit of {time_limit}: it will probably leave no snapshot."
            )
    elif (first_s := length.first_step_s) > request.time_limit_s:
        yield (
            f"Its first step is expected to end after {words.format_duration(first_s)}, later than"
            " its"
            f" time limit of {time_limit}: it will probably measure nothing."
        )
    elif expected_s > extents.estimate_longest_target_s(request):
        yield (
            f"The run is expected to take {words.format_duration(expected_s)}, more than its time"
            " limit"
            f" of {time_limit}: it will probably end without a verdict."
        )
    yield from note_extended_support(request)
    if isinstance(request.target, CassandraTarget) and request.target.nodes > 1:
        yield BETWEEN_ZONES
    if not request.target.provisioned:
        yield "What the endpoint costs is not known here, nor whether the load changes it."


# Whether a run is possible, as far as that is known before anything is made.


def require_possible(checked: CheckedRequest, prices: PriceTable, *, local: bool) -> None:
    """Refuse a run that is not possible.

    Args:
        checked: What is asked for.
        prices: The price table of the region.
        local: Whether it is to run on one machine as a stand-in for AWS.

    Raises:
        UsageError: The budget cannot suffice or cannot be enforced, one machine cannot stand in for
            the target, or a client on Lambda could not open its connections.
    """
    if local:
        require_stand_in(checked.request)
    else:
        require_openable_connections(checked.request)
    if checked.request.budget_usd is not None:
        divide_budget(checked.request, estimate_quote(checked, prices))


def find_today() -> date:
    """Return today's date (UTC)."""
    return datetime.now(UTC).date()


def require_known_version(request: Request, *, on: date) -> None:
    """Refuse an RDS engine version that the built-in table does not list; RDS is not asked.

    Raises:
        UsageError: The version is not in the table, its support has ended, or it needs Extended
            Support, which the request does not ask for.
    """
    target = request.target
    if isinstance(target, RdsTarget | AuroraTarget):
        extended = target.extended_support
        require_known(target.engine, target.engine_version, on=on, extended_support=extended)


def require_stand_in(request: Request) -> None:
    """Refuse a target that one machine cannot stand in for.

    These are Aurora, too large a cluster, and an RDS instance that starts from a snapshot, whose
    class has no known limits, or whose engine's major version is unknown. A Cassandra on an
    unknown instance type is accepted, limited by its volume alone.

    Raises:
        UsageError: The target is one of these.
    """
    match request.target:
        case RdsTarget():
            if request.target.snapshot is not None:
                problem = "one machine cannot restore your snapshot: give an endpoint instead"
                raise UsageError(
                    Complaint(("target", "snapshot"), problem, request.target.snapshot)
                )
            _require_instance_class(request.target.instance_class)
            _require_major(request.target)
        case AuroraTarget():
            problem = "one machine cannot stand in for Aurora, whose storage is a service of AWS"
            raise UsageError(Complaint(("target", "kind"), problem, "aurora"))
        case CassandraTarget():
            if (nodes := request.target.nodes) > MOST_NODES_HERE:
                problem = "one machine has no room for a Cassandra of so many nodes"
                few = Range(least=1, most=MOST_NODES_HERE)
                raise UsageError(Complaint(("target", "nodes"), problem, nodes, few))
        case EndpointTarget():
            pass
        case _:
            assert_never(request.target)


def _require_instance_class(asked: str) -> None:
    try:
        instance_limits(asked)
    except UsageError:
        families = tuple(f"db.{family}" for family in list_known_families() if family[0] != "i")
        path, problem = ("target", "instance_class"), f"one machine cannot stand in for {asked}"
        raise UsageError(Complaint(path, problem, asked, families)) from None


def _require_major(target: RdsTarget) -> None:
    """Refuse a major version that RDS never had; this machine's server stands in for others."""
    majors = rds_majors(target.engine)
    if major_of(target.engine, target.engine_version) not in majors:
        name = f"{words.ENGINES[target.engine]} {target.engine_version}"
        path, problem = ("target", "engine_version"), f"one machine cannot stand in for {name}"
        raise UsageError(Complaint(path, problem, target.engine_version, tuple(majors)))
