"""The private server: there when started, gone when stopped, whatever became of its owner."""

import os
import signal
import socket
from pathlib import Path

import psutil
import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.postgres_program import PINNED
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.rds_versions import OLDEST_POSTGRES
from tests.local.workflow.conftest import PATIENCE_S
from tests.support.owner import owner_of
from tests.support.postgres_server import PostgresFactory


def processes_of(server: PostgresServer) -> list[psutil.Process]:
    postmaster = psutil.Process(server.pid)
    return [postmaster, *postmaster.children(recursive=True)]


def test_a_removed_server_leaves_neither_process_nor_files(
    postgres_factory: PostgresFactory,
) -> None:
    server = postgres_factory()
    processes = processes_of(server)
    assert len(processes) > 4
    server.remove()
    assert not any(process.is_running() for process in processes)
    assert not server.directory.exists()


def test_a_killed_server_leaves_no_process_that_still_works_on_its_data(
    postgres_factory: PostgresFactory,
) -> None:
    server = postgres_factory()
    processes = processes_of(server)
    checkpointer = next(p for p in processes if "checkpointer" in p.cmdline()[0])
    checkpointer.suspend()  # it could not notice that the postmaster has gone
    server.kill()
    assert not any(process.is_running() for process in processes)


def test_a_killed_server_leaves_no_shared_memory(postgres_factory: PostgresFactory) -> None:
    def segments() -> str:
        return Path("/proc/sysvipc/shm").read_text()

    before = segments()
    server = postgres_factory()
    server.kill()
    assert segments() == before


def test_a_clean_stop_ends_with_code_0_whoever_is_connected(
    postgres_factory: PostgresFactory,
) -> None:
    server = postgres_factory()
    with socket.create_connection((server.host, server.port)):
        server.stop()
    assert server._process.poll() == 0


# the newest is started by nearly every test, and the oldest of RDS's here in `make test` too
@pytest.mark.parametrize(
    "major",
    [
        OLDEST_POSTGRES,
        *(pytest.param(m, marks=pytest.mark.whole) for m in PINNED if m != OLDEST_POSTGRES),
    ],
)
def test_every_version_starts(postgres_factory: PostgresFactory, major: int) -> None:
    server = postgres_factory(major=major)
    assert (server.directory / "data/PG_VERSION").read_text() == f"{major}\n"


def test_it_starts_again_on_its_data_after_a_kill(postgres_factory: PostgresFactory) -> None:
    first = postgres_factory()
    first.kill()
    second = postgres_factory(directory=first.directory, port=first.port)
    assert "automatic recovery in progress" in (second.directory / "server.log").read_text()


def test_a_setting_that_does_not_exist_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(
        PlimsollError, match=r'unrecognized configuration parameter "shred_buffers".*its log is'
    ) as error:
        PostgresServer.start(directory=tmp_path / "s", settings={"shred_buffers": 1})
    assert "\n" not in str(error.value)


def test_a_port_in_use_is_named(postgres: PostgresServer, tmp_path: Path) -> None:
    with pytest.raises(PlimsollError, match=f"port {postgres.port}: Address already in use"):
        PostgresServer.start(directory=tmp_path / "s", port=postgres.port)


OWNER = """
import sys
from pathlib import Path
from plimsoll.local.databases.postgres_server import PostgresServer
server = PostgresServer.start(directory=Path(sys.argv[1]))
print(server.pid, server._process._guard.pid, flush=True)
sys.stdin.read()
"""


# MariaDB's guard is killed in `make test`
@pytest.mark.parametrize("victim", ["owner", pytest.param("guard", marks=pytest.mark.whole)])
def test_sudden_death_leaves_no_server_behind(tmp_path: Path, victim: str) -> None:
    directory = tmp_path / "s"
    with owner_of(OWNER, directory) as (owner, pids):
        server, guard = (psutil.Process(int(pid)) for pid in pids)
        assert server.name() == "postgres"
        family = [server, *server.children()]
        os.kill(owner.pid if victim == "owner" else guard.pid, signal.SIGKILL)
        # a dead guard stays a zombie until its owner collects it
        _, alive = psutil.wait_procs(
            [*family, guard] if victim == "owner" else family, timeout=PATIENCE_S
        )
        assert not alive
        if victim == "owner":
            assert not (directory / "data").exists()
        owner.kill()
