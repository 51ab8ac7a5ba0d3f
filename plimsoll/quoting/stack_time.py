"""How long a target's stack takes to be made and deleted, as quotes and budgets assume it. Pure."""

from typing import Literal, assert_never

from plimsoll import words
from plimsoll.model.cassandra_target import CassandraTarget
from plimsoll.model.quote import QuotePhase
from plimsoll.model.request import Target, TargetKind
from plimsoll.model.timings import (
    NODE_CREATION,
    NODE_DELETION,
    STACK_CREATION,
    STACK_DELETION,
    Assumed,
)

NO_TIME = Assumed(expected_s=0, most_s=0)


def provision_phase(target: Target) -> QuotePhase:
    """Say how long it takes until a target is there."""
    return _phase("provision", target, _made(target.kind), STACK_CREATION, NODE_CREATION)


def teardown_phase(target: Target) -> QuotePhase:
    """Say how long it takes from asking for a target's deletion until it is gone."""
    what = f"a deletion takes {STACK_DELETION.in_minutes}"
    return _phase("teardown", target, what, STACK_DELETION, NODE_DELETION)


def _phase(
    name: Literal["provision", "teardown"],
    target: Target,
    what: str,
    stack: Assumed,
    each: Assumed,
) -> QuotePhase:
    further = target.nodes - 1 if isinstance(target, CassandraTarget) else 0
    takes = stack.and_then(further, each) if target.provisioned else NO_TIME
    more = f"; {words.plural(further, 'further node')}, one after the other: {each.in_minutes} each"
    return QuotePhase(
        name=name,
        expected_s=takes.expected_s,
        most_s=takes.most_s,
        assumption=what + (more if further else ""),
    )


def _made(kind: TargetKind) -> str:
    match kind:
        case "rds":
            return "RDS makes an instance in 10 minutes, 30 at most"
        case "aurora":
            return "RDS makes a cluster and its writer in 10 minutes, 30 at most"
        case "cassandra":
            return "EC2 starts an instance that installs Cassandra in 10 minutes, 30 at most"
        case "endpoint":
            return "the endpoint is there"
        case _:
            assert_never(kind)
