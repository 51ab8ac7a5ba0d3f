"""A server that speaks InfluxDB's write API, for the session."""

import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.local.guarded import GuardedProcess

PROGRAM = Path(__file__).parents[3] / ".cache/debian/victoria-metrics/usr/bin/victoria-metrics"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture(scope="session")
def victoria_metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """VictoriaMetrics on loopback; its URL. Read back over `/api/v1/export`."""
    if not PROGRAM.exists():
        pytest.fail("VictoriaMetrics is not there: make .venv/.stamps/test-programs")
    directory = tmp_path_factory.mktemp("victoria-metrics")
    port = _free_port()
    log = directory / "log"
    log.touch()
    server = GuardedProcess.start(
        [
            PROGRAM,
            f"-httpListenAddr=127.0.0.1:{port}",
            f"-storageDataPath={directory / 'data'}",
            "-search.latencyOffset=0",
            "-retentionPeriod=100y",
        ],
        environment={},
        working_directory=directory,
        log=log,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _await_answer(url, server, log)
        yield url
    finally:
        server.stop(timeout_s=10)


def _await_answer(url: str, server: GuardedProcess, log: Path) -> None:
    while server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except OSError:
            continue
    pytest.fail(f"VictoriaMetrics ended at its start: {log.read_text()[-500:]}")
