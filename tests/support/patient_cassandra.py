"""A Cassandra, and sessions with it, that give nothing up where the machine stands still."""

from collections.abc import Iterator
from contextlib import contextmanager

from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, Session

PATIENCE_S = 60
# its own are 2 s for writes and 5 s for reads, from when they arrived
PATIENT_SETTINGS: dict[str, object] = {
    f"{what}_timeout": f"{PATIENCE_S}s"
    for what in (
        "read_request",
        "range_request",
        "write_request",
        "cas_contention",
        "request",
        "native_transport",
    )
}


@contextmanager
def patient_session(host: str, port: int) -> Iterator[Session]:
    """Connect for a time; the driver's own patience is 2 to 10 s."""
    with Cluster(
        [host],
        port=port,
        connect_timeout=PATIENCE_S,
        control_connection_timeout=PATIENCE_S,
        execution_profiles={EXEC_PROFILE_DEFAULT: ExecutionProfile(request_timeout=PATIENCE_S)},
    ) as cluster:
        yield cluster.connect()
