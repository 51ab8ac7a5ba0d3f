"""Servers for metrics, for the session: one of InfluxDB's write API, one of its query language."""

import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.local.guarded import GuardedProcess

DEBIAN = Path(__file__).parents[3] / ".cache/debian"
VICTORIA_METRICS = DEBIAN / "victoria-metrics/usr/bin/victoria-metrics"
INFLUXD = DEBIAN / "influxdb/usr/bin/influxd"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _serve(
    program: Path, arguments: list[str], environment: dict[str, str], directory: Path, health: str
) -> Iterator[None]:
    """Run a server until the tests are over."""
    if not program.exists():
        pytest.fail(f"{program.name} is not there: make .venv/.stamps/test-programs")
    log = directory / "log"
    log.touch()
    server = GuardedProcess.start(
        [program, *arguments], environment=environment, working_directory=directory, log=log
    )
    try:
        _await_answer(health, server, log)
        yield
    finally:
        server.stop(timeout_s=10)


def _await_answer(health: str, server: GuardedProcess, log: Path) -> None:
    while server.poll() is None:
        try:
            with urllib.request.urlopen(health, timeout=5):
                return
        except OSError:
            continue
    pytest.fail(f"the server ended at its start: {log.read_text()[-500:]}")


@pytest.fixture(scope="session")
def victoria_metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """VictoriaMetrics, which speaks the write API of InfluxDB 2; its URL."""
    directory = tmp_path_factory.mktemp("victoria-metrics")
    address = f"127.0.0.1:{_free_port()}"
    arguments = [
        f"-httpListenAddr={address}",
        f"-storageDataPath={directory / 'data'}",
        "-search.latencyOffset=0",
        "-retentionPeriod=100y",
    ]
    running = _serve(VICTORIA_METRICS, arguments, {}, directory, f"http://{address}/health")
    next(running)
    yield f"http://{address}"
    next(running, None)


@pytest.fixture(scope="session")
def influxdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """InfluxDB 1, which speaks InfluxQL; its URL."""
    directory = tmp_path_factory.mktemp("influxdb")
    address = f"127.0.0.1:{_free_port()}"
    environment = {
        "HOME": str(directory),
        "INFLUXDB_BIND_ADDRESS": f"127.0.0.1:{_free_port()}",
        "INFLUXDB_HTTP_BIND_ADDRESS": address,
        "INFLUXDB_META_DIR": str(directory / "meta"),
        "INFLUXDB_DATA_DIR": str(directory / "data"),
        "INFLUXDB_DATA_WAL_DIR": str(directory / "wal"),
        "INFLUXDB_REPORTING_DISABLED": "true",
        "INFLUXDB_MONITOR_STORE_ENABLED": "false",
    }
    running = _serve(INFLUXD, [], environment, directory, f"http://{address}/ping")
    next(running)
    yield f"http://{address}"
    next(running, None)
