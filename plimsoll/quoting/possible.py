"""Whether a run can be at all, as far as that can be said before anything is made. Pure.

AWS may have what our tables of instances and volumes lack, such as a newer family of instances: it
is left to AWS to refuse it. The stand-in on this machine can make only what the tables know.
"""

from datetime import UTC, date, datetime
from typing import assert_never

from plimsoll import words
from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.cassandra_target import MOST_NODES_HERE, CassandraTarget
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.instances import instance_limits, known_families
from plimsoll.model.prices import PriceTable
from plimsoll.model.rds_target import RdsTarget
from plimsoll.model.rds_versions import major_of, rds_majors, require_known
from plimsoll.model.request import Request
from plimsoll.quoting.budget import held_budget
from plimsoll.quoting.quotes import quote


def require_possible(request: Request, prices: PriceTable, *, local: bool) -> None:
    """Refuse a run that cannot be.

    Args:
        request: What is asked for.
        prices: Of the region.
        local: Whether it is for this machine's stand-in.

    Raises:
        UsageError: Its budget cannot suffice or be held, or this machine has no such target.
    """
    if local:
        require_stand_in(request)
    if request.budget_usd is not None:
        held_budget(request, quote(request, prices))


def today() -> date:
    """Give the day on which something is submitted."""
    return datetime.now(UTC).date()


def require_known_version(request: Request, *, on: date) -> None:
    """Refuse a version of an RDS engine that is not known to be offered, where RDS is not asked.

    Raises:
        UsageError: It is not in the table, or its support has ended.
    """
    if isinstance(request.target, RdsTarget | AuroraTarget):
        require_known(request.target.engine, request.target.engine_version, on=on)


def require_stand_in(request: Request) -> None:
    """Refuse Aurora, a large cluster, and an RDS instance without limits, memory or server here.

    Of a Cassandra's unknown instance the volume alone is the limit.

    Raises:
        UsageError: Its class is not in the table, the engine has no such major version, or the
            cluster has too many nodes.
    """
    match request.target:
        case RdsTarget():
            if request.target.snapshot is not None:
                problem = "one machine has no snapshots of your own: give an endpoint, or `find` it"
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
        families = tuple(f"db.{family}" for family in known_families() if family[0] != "i")
        path, problem = ("target", "instance_class"), f"one machine cannot stand in for {asked}"
        raise UsageError(Complaint(path, problem, asked, families)) from None


def _require_major(target: RdsTarget) -> None:
    """Refuse a major version that RDS never had; of the others this machine's server stands in."""
    majors = rds_majors(target.engine)
    if major_of(target.engine, target.engine_version) not in majors:
        name = f"{words.ENGINES[target.engine]} {target.engine_version}"
        path, problem = ("target", "engine_version"), f"one machine cannot stand in for {name}"
        raise UsageError(Complaint(path, problem, target.engine_version, tuple(majors)))
