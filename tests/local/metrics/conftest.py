"""Servers for metrics, for the session: one of InfluxDB's write API, one of its query language."""

import socket
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import TimeoutExpired

import pytest

from plimsoll.local.guarded import GuardedProcess

DEBIAN = Path(__file__).parents[3] / ".cache/debian"
VICTORIA_METRICS = DEBIAN / "victoria-metrics/usr/bin/victoria-metrics"
INFLUXD = DEBIAN / "influxdb/usr/bin/influxd"
STARTS_MOST = 5  # a port that was free may be another's by the time that the server takes it


@dataclass(frozen=True)
class Start:
    """How a server is called, on ports that were free a moment ago."""

    address: str
    health: str  # a path that answers once the server is ready
    arguments: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


def _free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return f"127.0.0.1:{port}"


@contextmanager
def _serving(program: Path, directory: Path, start: Callable[[], Start]) -> Iterator[str]:
    """Run a server until the tests are over; yield its URL."""
    if not program.exists():
        pytest.fail(f"{program.name} is not there: make .venv/.stamps/test-programs")
    log = directory / "log"
    log.touch()
    for _ in range(STARTS_MOST):
        begun = start()
        server = GuardedProcess.start(
            [program, *begun.arguments],
            environment=begun.environment,
            working_directory=directory,
            log=log,
        )
        try:
            if _answers(f"http://{begun.address}{begun.health}", server):
                yield f"http://{begun.address}"
                return
        finally:
            server.stop(timeout_s=10)
    pytest.fail(f"the server ended at each start: {log.read_text()[-500:]}")


def _answers(health: str, server: GuardedProcess) -> bool:
    """Whether the server is ready; False: it has ended."""
    while True:
        try:
            with urllib.request.urlopen(health, timeout=60):
                return server.poll() is None
        except OSError:
            try:
                server.wait(0.05)
            except TimeoutExpired:
                continue
            return False


@pytest.fixture(scope="session")
def victoria_metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """VictoriaMetrics, which speaks the write API of InfluxDB 2; its URL."""
    directory = tmp_path_factory.mktemp("victoria-metrics")

    def start() -> Start:
        address = _free_address()
        arguments = [
            f"-httpListenAddr={address}",
            f"-storageDataPath={directory / 'data'}",
            "-search.latencyOffset=0",
            "-retentionPeriod=100y",
        ]
        return Start(address, "/health", arguments)

    with _serving(VICTORIA_METRICS, directory, start) as url:
        yield url


@pytest.fixture(scope="session")
def influxdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """InfluxDB 1, which speaks InfluxQL; its URL."""
    directory = tmp_path_factory.mktemp("influxdb")

    def start() -> Start:
        address = _free_address()
        environment = {
            "HOME": str(directory),
            "INFLUXDB_BIND_ADDRESS": _free_address(),
            "INFLUXDB_HTTP_BIND_ADDRESS": address,
            "INFLUXDB_META_DIR": str(directory / "meta"),
            "INFLUXDB_DATA_DIR": str(directory / "data"),
            "INFLUXDB_DATA_WAL_DIR": str(directory / "wal"),
            "INFLUXDB_REPORTING_DISABLED": "true",
            "INFLUXDB_MONITOR_STORE_ENABLED": "false",
        }
        return Start(address, "/ping", environment=environment)

    with _serving(INFLUXD, directory, start) as url:
        yield url
