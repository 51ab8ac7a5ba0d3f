"""A pass of a phase, planned as a step, and each client's slice of it. Pure."""

from plimsoll import words
from plimsoll.model.request.phases import Pass
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import ServerCounters, StepPlan


def plan_pass(
    planned: Pass,
    request: Request,
    *,
    records_each: float,
    server_before: ServerCounters | None,
    poll_us: int = 0,
) -> StepPlan:
    """Plan a pass: it has no warm-up, and ends after a number of operations.

    Args:
        planned: The pass.
        request: The run's request.
        records_each: The mean number of records of an operation.
        server_before: The server's counters; None if it did not answer.
        poll_us: How long clients busy-poll if the request does not say, in microseconds.
    """
    asked = planned.asked
    operations = max(planned.connections, round(asked.records / records_each))
    turn = planned.number // len(asked.connections) + 1
    return StepPlan(
        index=planned.index,
        purpose="phase",
        why=f"phase {planned.phase.name}: {words.format_number(asked.records)} records to"
        " completion, pass"
        f" {turn} of {asked.repetitions}",
        clients=planned.clients,
        connections=planned.connections,
        rate_ops_per_second=None,
        warmup_s=0,
        duration_s=asked.longest_s,
        timeout_ms=request.load.timeout_ms,
        poll_us=poll_us if request.load.poll_us is None else request.load.poll_us,
        seed=request.load.seed + planned.index,
        start_at_epoch_ms=0,
        recovered=None,
        server_before=server_before,
        phase=planned.phase.name,
        operations=operations,
        sequence_from=planned.number * asked.records,
    )


def slice_pass(plan: StepPlan, client: int, records_each: float) -> tuple[int, int]:
    """Return a client's share of a pass.

    Args:
        plan: The plan of the pass.
        client: The number of the client.
        records_each: The mean number of records of an operation.

    Returns:
        The number of operations, and the number of the first record.
    """
    assert plan.operations is not None  # noqa: S101 - it is of a pass
    share, rest = divmod(plan.connections, plan.clients)
    before, upto = (each * share + min(each, rest) for each in (client, client + 1))
    first, last = (plan.operations * edge // plan.connections for edge in (before, upto))
    return last - first, plan.sequence_from + round(first * records_each)
