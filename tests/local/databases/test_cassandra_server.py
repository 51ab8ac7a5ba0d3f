"""The private Cassandra: there when started, gone when stopped, and its I/O on its volume."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from cassandra.cluster import Session
from cassandra.concurrent import execute_concurrent_with_args

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.cassandra_server import CassandraServer
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.aws.volumes_seen import rates
from plimsoll.model.request.cassandra_target import VERSION
from plimsoll.volumes import EmulatedVolume
from tests.local.workflow.conftest import PATIENCE_S
from tests.support.awake import Awake
from tests.support.owner import owner_of
from tests.support.patient_cassandra import PATIENT_SETTINGS, patient_session

# The stack's node (tests/local/resources) is on its volume in `make test`; these start four more.
ON_ITS_OWN = pytest.mark.whole
ROWS = 4096  # of 4 KiB: each read is one of the volume, since no page cache stands before it


@pytest.fixture(scope="module")
def volume(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedVolume]:
    directory = tmp_path_factory.mktemp("volume")
    with EmulatedVolume.create(directory, Volume(type="nvme", size_gib=10)) as created:
        yield created


@pytest.fixture(scope="module")
def server(volume: EmulatedVolume) -> Iterator[CassandraServer]:
    with CassandraServer.start(
        directory=volume.directory / "server",
        settings={"commitlog_sync_period": "100ms", **PATIENT_SETTINGS},
        environment=volume.environment(),
    ) as running:
        yield running


@pytest.fixture(scope="module")
def session(server: CassandraServer) -> Iterator[Session]:
    with patient_session(server.host, server.port) as connected:
        yield connected


@ON_ITS_OWN
def test_it_is_the_pinned_one_with_settings_that_the_emulated_volume_can_see(
    server: CassandraServer, session: Session
) -> None:
    assert session.execute("SELECT release_version FROM system.local").one() == (VERSION,)
    wanted = {"disk_access_mode": "standard", "rpc_address": "127.0.0.1"}
    for name, value in wanted.items():
        query = f"SELECT value FROM system_views.settings WHERE name = '{name}'"
        assert session.execute(query).one() == (value,)
    # the port of CQL and that of the storage protocol, on the loopback interface alone
    listening = {
        connection.laddr.ip.removeprefix("::ffff:")
        for connection in psutil.Process(server.pid).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


@pytest.fixture(scope="module")
def rows(session: Session, volume: EmulatedVolume) -> str:
    """A table whose rows have left the memory, for good; gives the statement that reads one."""
    session.execute(
        "CREATE KEYSPACE io WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.execute(
        "CREATE TABLE io.rows (id int PRIMARY KEY, value blob)"
        " WITH compression = {'enabled': false} AND memtable_flush_period_in_ms = 500"
        " AND compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': false}"
    )
    insert = session.prepare("INSERT INTO io.rows (id, value) VALUES (?, ?)")
    values = [(i, os.urandom(4096)) for i in range(ROWS)]
    execute_concurrent_with_args(session, insert, values, concurrency=64)
    sizes = "SELECT mebibytes FROM system_views.disk_usage WHERE keyspace_name = 'io'"
    # rounded up, and each row is a little larger than its value; bounded by the time-out
    while (session.execute(sizes).one() or (0,))[0] <= ROWS * 4 // 1024:
        session.execute("SELECT key FROM system.local")
    # the commit log went through the volume too: random bytes are not compressed
    while volume.sample().write_bytes < 1.9 * ROWS * 4096:  # bounded by the time-out
        time.sleep(0.1)
    return "SELECT value FROM io.rows WHERE id = ?"


@ON_ITS_OWN
# far below what a busy machine reaches: of 64 reads at once, many always wait for their turn
@pytest.mark.parametrize("iops", [100, 200])
def test_the_iops_counted_by_the_volume_follow_its_cap(
    session: Session, volume: EmulatedVolume, rows: str, iops: int
) -> None:
    read = session.prepare(rows)
    keys = [(i * 7919 % ROWS,) for i in range(iops * 2)]
    for tries_left in reversed(range(5)):
        volume.reconfigure(Volume(type="io1", size_gib=100, iops=iops))
        before = volume.sample()
        with Awake() as awake:
            execute_concurrent_with_args(session, read, keys, concurrency=64)
        after = volume.sample()
        volume.reconfigure(Volume(type="nvme", size_gib=10))
        assert after.read_ios - before.read_ios >= len(keys)  # no read passes unseen
        seen = rates(before, after)
        counted = seen.read_iops + seen.write_iops
        assert counted <= iops * 1.05
        # a cap does not make good what the machine has lost by standing still
        reached = counted * seen.interval_s / awake.seconds
        if reached >= iops * 0.7:
            break
        assert tries_left, f"{reached:.0f} I/Os per second that the machine went on"


def test_a_setting_that_does_not_exist_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(PlimsollError, match=r"no_such_setting.*its log is") as error:
        CassandraServer.start(directory=tmp_path / "s", settings={"no_such_setting": 1})
    assert "\n" not in str(error.value)


def test_a_port_in_use_is_named(cassandra: CassandraServer, tmp_path: Path) -> None:
    with pytest.raises(PlimsollError, match=f"port {cassandra.port}: Address already in use"):
        CassandraServer.start(directory=tmp_path / "s", port=cassandra.port)


OWNER = """
import sys
import time
from pathlib import Path
from plimsoll.local.databases.cassandra_server import CassandraServer
server = CassandraServer.start(directory=Path(sys.argv[1]))
print(server.pid, flush=True)
sys.stdin.read()
"""


@ON_ITS_OWN
def test_sudden_death_of_its_owner_leaves_neither_server_nor_data(tmp_path: Path) -> None:
    directory = tmp_path / "s"
    with owner_of(OWNER, directory) as (owner, (pid,)):
        server = psutil.Process(int(pid))
        guard = server.parent()
        assert guard is not None
        os.kill(owner.pid, signal.SIGKILL)
        psutil.wait_procs([server, guard], timeout=PATIENCE_S)
        assert not server.is_running()
        assert not guard.is_running()
        assert not (directory / "data").exists()
        assert not (directory / "tmp").exists()


@ON_ITS_OWN
@pytest.mark.usefixtures("rows")
def test_data_outlives_a_stop_and_a_removed_server_leaves_no_files(
    session: Session, server: CassandraServer
) -> None:
    session.execute("INSERT INTO io.rows (id, value) VALUES (-1, 0x42)")
    server.stop()
    assert not server.running
    with CassandraServer.start(directory=server.directory, port=server.port) as again:
        with patient_session(again.host, again.port) as connected:
            found = connected.execute("SELECT value FROM io.rows WHERE id = -1").one()
        assert found == (b"\x42",)
    assert not server.directory.exists()
