"""Whether the boundary of a matrix can be sought: each cell predicted, priced, held to limits."""

from collections.abc import Iterator
from functools import partial

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.cassandra_target import CassandraTarget
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.experiment import Experiment
from plimsoll.model.prices import PriceTable
from plimsoll.model.request import Request
from plimsoll.requests.cells import of_each_cell
from plimsoll.requests.request_workload import compiled_workload
from plimsoll.sizing.caps import Made, caps_of
from plimsoll.sizing.prices import monthly


def require_seekable(experiment: Experiment, prices: PriceTable) -> None:
    """Refuse a search for the boundary that cannot be; any other experiment passes.

    Raises:
        UsageError: A cell cannot be predicted or priced; names where its field was written.
    """
    if experiment.want is not None:
        of_each_cell(experiment, partial(_require, prices=prices))


def _require(request: Request, prices: PriceTable) -> None:
    if complaints := list(_complaints(request, prices)):
        raise UsageError(*complaints)


def _complaints(request: Request, prices: PriceTable) -> Iterator[Complaint]:
    if request.toggle is not None:
        yield Complaint(("toggle",), "cannot go with search: boundary: it has two answers")
    for operation in compiled_workload(request).engine.operations:
        if operation.name not in request.limits.limits_us:
            path = ("limits", "limits_us", operation.name)
            problem = "lacks a limit: search: boundary asks for the load within limits of latency"
            yield Complaint(path, problem)
    target = request.target
    if isinstance(target, EndpointTarget):
        return  # the model has refused it
    if not _is_known(target):
        field = "instance_type" if isinstance(target, CassandraTarget) else "instance_class"
        problem = "has limits that are not known here: nothing is predicted of it"
        yield Complaint(("target", field), problem, target.instance_class)
    if missing := [line.what for line in monthly(target, prices).items if line.usd is None]:
        problem = f"has no price of {', '.join(missing)}, by which cells are ordered"
        yield Complaint(("target",), problem)


def _is_known(target: Made) -> bool:
    try:
        return caps_of(target).processors is not None
    except UsageError:
        return False
