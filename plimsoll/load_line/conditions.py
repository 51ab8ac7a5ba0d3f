"""The audit of a workload's conditions after a load of this process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from plimsoll import words
from plimsoll.databases.conditions import (
    AUDIT_MAX_S,
    Connect,
    Numbers,
    audit_conditions,
    leave_unknown,
    open_numbers,
)
from plimsoll.load_line.clients import INTERRUPTED, end_on_signals
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.results import CheckedCondition
from plimsoll.workload.compiled import Compiled


def audit_rows(
    target: EngineTarget,
    compiled: Compiled,
    say: Callable[[str], object],
    connect: Connect = open_numbers,
) -> tuple[CheckedCondition, ...]:
    """Check a workload's conditions after its load, and say so first, since it reads whole tables.

    Ctrl-C and SIGTERM end the check; what was measured stays.
    """
    many = words.format_count(len(compiled.conditions), "condition")
    most = words.format_duration(AUDIT_MAX_S)
    say(f"checking {many} of {compiled.name} on all rows, for {most} at most (Ctrl-C skips it)")
    interrupted = False

    @contextmanager
    def connect_until_interrupted(target: EngineTarget) -> Iterator[Numbers]:
        with connect(target) as numbers:

            def end() -> None:
                nonlocal interrupted
                interrupted = True
                numbers.cut_off()

            with end_on_signals(end):
                yield numbers

    checked = audit_conditions(target, compiled, connect_until_interrupted)
    if not interrupted:
        return checked
    skipped = leave_unknown(compiled, INTERRUPTED)
    return tuple(
        other if done.breaches is None else done
        for done, other in zip(checked, skipped, strict=True)
    )
