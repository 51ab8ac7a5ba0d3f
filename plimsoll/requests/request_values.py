"""Checks of a request that is given as plain values, with its workload."""

from collections.abc import Mapping
from typing import Any

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.request.expectations import parse_rule, require_operations
from plimsoll.model.request.request import Request
from plimsoll.model.validation import validate
from plimsoll.requests.phase_workload import (
    compile_step,
    require_known_limits,
    require_phases_possible,
)
from plimsoll.requests.request_workload import (
    compile_background,
    compile_prepared_workloads,
    compile_workload,
    require_possible_background,
)


def validate_request(value: Mapping[str, Any]) -> Request:
    """Check a request and its workload.

    Raises:
        UsageError: Something in it is not valid.
    """
    request = validate(Request, value)
    require_known_operations(request)
    require_phases_possible(request)
    require_own_tables(request)
    return request


def require_own_tables(request: Request) -> None:
    """Refuse a workload that inserts into a user's own tables: new rows cannot be numbered.

    Raises:
        UsageError: The workload is such a one.
    """
    if request.target.snapshot is None:
        return
    if len(compile_prepared_workloads(request)) > 1:
        problem = "a target made from a snapshot has no tables of its own for it: use the same ones"
        raise UsageError(Complaint(("background",), problem))
    names = (None, *(phase.name for phase in request.phases))
    sent = [compile_step(request, name) for name in names]
    sent += [compile_background(request, number) for number in range(len(request.background))]
    if any(workload.inserts for workload in sent):
        problem = (
            "a workload that inserts rows needs the note of them that `prepare` makes; in a"
            " snapshot of your own it may read, update and delete"
        )
        raise UsageError(Complaint(("target", "snapshot"), problem, request.target.snapshot))


def require_known_operations(request: Request) -> None:
    """Refuse limits and rules on operations that the request's workload does not have.

    Raises:
        UsageError: There is such a limit or rule, or a workload is not valid.
    """
    require_possible_background(request)
    require_known_limits(request)
    operations = {operation.name for operation in compile_workload(request).engine.operations}
    for number, text in enumerate(request.expect):
        try:
            require_operations([parse_rule(text)], operations)
        except UsageError as error:
            raise error.within("expect", number) from None
