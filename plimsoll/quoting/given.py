"""What becomes of a run's dataset, and what that changes of its time and its use. Pure.

A run loads its rows; or it prepares them for others, and measures nothing; or its target is
restored from a snapshot, whose blocks it reads through once. Nothing of this has been measured on
AWS: each rate is an assumption, which the quote names.
"""

from dataclasses import replace
from typing import Literal

from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.quote import QuotePhase
from plimsoll.model.rds_target import RdsTarget
from plimsoll.model.request import Request
from plimsoll.model.timings import AWS_TIMINGS
from plimsoll.quoting import extents
from plimsoll.quoting.charges import Extent
from plimsoll.quoting.extents import Duration
from plimsoll.quoting.rehearsal import Rehearsed
from plimsoll.requests.row_bytes import rows_bytes

Given = Literal["loaded", "prepared", "restored"]
Ways = tuple[Extent, Extent, Extent]  # least, expected, most

_GIB = 2**30
_MIB = 2**20
GROWTH = 1.5  # a table's bytes for one of its rows' values: half-filled pages, indexes
READ_MIB_S = (100.0, 20.0)  # fetching a restored volume's blocks: expected, at worst
SNAPSHOT_MIB_S = (100.0, 25.0)  # writing a first snapshot
_SNAPSHOT_LEAST_S = 120.0
_NO_STEPS = Rehearsed(steps=0.0, clients=1.0, soak_steps=0.0)


def given_of(request: Request, *, restored: bool = False, prepares: bool = False) -> Given:
    """Say what becomes of a run's dataset.

    Args:
        request: What is asked for.
        restored: Its target is made from a snapshot that another run has left.
        prepares: It leaves one itself.
    """
    if prepares:
        return "prepared"
    return "restored" if restored or request.target.snapshot is not None else "loaded"


def dataset_gib(request: Request) -> float:
    """Estimate the size of a dataset; of a snapshot of the user's, its volume's."""
    target = request.target
    if target.snapshot is not None and isinstance(target, RdsTarget):
        return float(target.volume.size_gib)
    size = GROWTH * rows_bytes(request) / _GIB
    if isinstance(target, EndpointTarget | AuroraTarget):
        return size
    return min(size, float(target.volume.size_gib))


def duration_of(request: Request, rows: int, given: Given) -> Duration:
    """Estimate how long a run takes, with what becomes of its dataset."""
    length = extents.duration(request, rows)
    if given == "loaded":
        return length
    mib = dataset_gib(request) * _GIB / _MIB
    if given == "restored":
        reading = QuotePhase(
            name="prepare",
            expected_s=mib / READ_MIB_S[0] + 60.0,
            most_s=mib / READ_MIB_S[1] + 900.0,
            assumption=f"restored, {mib / 1024:,.0f} GiB read through once: {READ_MIB_S[0]:g} MiB/s"
            f" until all blocks have come, {READ_MIB_S[1]:g} at worst; then counted",
        )
        phases = (reading if phase.name == "prepare" else phase for phase in length.phases)
        return replace(length, phases=tuple(phases))
    taking = QuotePhase(
        name="snapshot",
        expected_s=_SNAPSHOT_LEAST_S + mib / SNAPSHOT_MIB_S[0],
        most_s=_SNAPSHOT_LEAST_S + mib / SNAPSHOT_MIB_S[1],
        assumption=f"a first snapshot of {mib / 1024:,.0f} GiB: {SNAPSHOT_MIB_S[0]:g} MiB/s,"
        f" {SNAPSHOT_MIB_S[1]:g} at worst",
    )
    made = {phase.name: phase for phase in length.phases}
    kept = (made["provision"], made["prepare"], taking, made["teardown"])
    return replace(length, phases=kept, steps=(0.0, 0.0, 0.0), rehearsed=_NO_STEPS)


def ways_of(request: Request, length: Duration, given: Given) -> Ways:
    """Say what a run uses: at least, if the assumptions hold, at most."""
    if given != "prepared":
        return (
            extents.least(request, length),
            extents.expected(request, length),
            extents.most(request, length),
        )
    loading = next(phase for phase in length.phases if phase.name == "prepare")
    whole = sum(phase.expected_s for phase in length.phases)
    longest = extents.longest_s(request)
    return (
        _preparing(request, target_s=0.0, loading_s=0.0),
        _preparing(request, target_s=min(whole, longest), loading_s=loading.expected_s),
        _preparing(request, target_s=longest, loading_s=min(loading.most_s, request.time_limit_s)),
    )


def _preparing(request: Request, *, target_s: float, loading_s: float) -> Extent:
    return extents.extent(
        target_s=target_s,
        loading_client_s=request.prepare.clients * loading_s,
        step_clients=[],
        polls=max(0.0, target_s - loading_s) / AWS_TIMINGS.poll_s,
    )
