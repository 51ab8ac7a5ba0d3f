"""What a server did between looks, made up: 100,000 operations of ycsb-b in 10 s."""

from plimsoll.databases.counted_statements import Look
from plimsoll.model.judging.steps import StorageRates
from plimsoll.model.run.results import ServerWaits
from plimsoll.sizing.production import Observation
from plimsoll.sizing.production_server import Sample, summarize_server
from plimsoll.workload.derive.derived import derive
from tests.unit.workload.derive.digests import YCSB_B

LOOKS = [Look(1000.0, {}), Look(1005.0, {}), Look(1010.0, {})]
DERIVED = derive(YCSB_B, writes=True)


def sample(statements: int, iops: float | None = 500.0, counted_s: float = 5.0) -> Sample:
    storage = None
    if iops is not None:
        storage = StorageRates(interval_s=5, iops=iops, mib_s=8, fsyncs_per_second=90)
    waits = ServerWaits(log_flushes=450, row_locks_s=0.5)
    return Sample(5.0, counted_s, statements, storage, waits, reads=2000, writes=500)


def observed(*samples: Sample) -> Observation:
    return summarize_server(DERIVED, samples, server="MariaDB", looks=LOOKS)
