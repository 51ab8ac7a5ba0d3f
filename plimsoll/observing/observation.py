"""What production asks of its database today, as `plimsoll size --observe` tells it."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from plimsoll.model.base import Model
from plimsoll.model.capacity import Bound
from plimsoll.sizing.demand import Demand


class Spread(Model):
    """A figure over the samples of an observation; `Observation.sample_s` is how long each is."""

    mean: float
    p50: float
    p95: float
    peak: float  # the largest sample, a mean over its own time
    samples: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> "Spread | None":
        """Summarize samples, of those that are known; None where none is."""
        known = sorted(value for value in values if value is not None)
        if not known:
            return None
        return cls(
            mean=sum(known) / len(known),
            p50=_nearest(known, 0.5),
            p95=_nearest(known, 0.95),
            peak=known[-1],
            samples=len(known),
        )


def _nearest(ordered: Sequence[float], share: float) -> float:
    """Give the least sample that so many samples do not pass (nearest rank)."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


class Rates(Model):
    """What a database did, a second; None: nobody tells."""

    operations: Spread | None = None  # of the workload that its statements make
    statements: Spread | None = None
    read_iops: Spread | None = None
    write_iops: Spread | None = None
    iops: Spread | None = None
    mib: Spread | None = None  # read and written
    log_flushes: Spread | None = None
    row_lock_wait_s: Spread | None = None  # seconds that sessions waited, of each second
    cpu_percent: Spread | None = None  # of the instance's processors
    queue: Spread | None = None  # I/Os that wait


class OperationSeen(Model):
    """One operation of the workload that the statements make."""

    name: str
    ops_per_second: float
    share: float  # of all operations
    mean_us: float  # in the server; of a transaction all of its statements together
    statements: tuple[str, ...]  # each once, without values


class AgainstLine(Model):
    """Where production stands, of the most that a run of its workload sustained."""

    run_id: str
    line_ops_per_second: float
    bound: Bound | None  # of that figure
    mean_share: float
    peak_share: float | None  # of the busiest sample
    caveats: tuple[str, ...]


class Observation(Model):
    """Today's demand, as it was observed."""

    source: Literal["server", "cloudwatch"]
    database: str  # what was observed: a server as it names itself, or an RDS instance
    began: datetime
    ended: datetime
    sample_s: float
    rates: Rates
    demand: Demand | None = None  # of an operation; None: operations are not known
    operations: tuple[OperationSeen, ...] = ()
    share_of_calls: float | None = None  # of all statements, those that the operations hold
    line: AgainstLine | None = None
    notes: tuple[str, ...] = ()

    @property
    def window_s(self) -> float:
        """How long was observed."""
        return (self.ended - self.began).total_seconds()
