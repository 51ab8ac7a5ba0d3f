"""Real database servers and a stand-in for AWS, on 127.0.0.1, each gone with the test session."""

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.main import main
from plimsoll.local.databases.cassandra_server import CassandraServer
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.local.deploying import ROLE
from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.functions import Function
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.settings import Settings
from tests.local.workflow.pool import gates, run_twin
from tests.support.command import Output
from tests.support.guarded_cassandra import GUARDED_SETTINGS
from tests.support.mariadb_connection import Connection, connected
from tests.support.postgres_connection import connected as connected_to_postgres
from tests.support.postgres_server import postgres, postgres_factory
from tests.support.servers import several

__all__ = ["gates", "postgres", "postgres_factory", "run_twin"]  # fixtures, found here by pytest

MariaDbFactory = Callable[..., MariaDbServer]

# a Cassandra of the tests has ended before what Java's second compiler does for it pays
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")


@pytest.fixture
def plimsoll(capsys: pytest.CaptureFixture[str]) -> Callable[..., Output]:
    """The `plimsoll` command, called within this process with the arguments given."""

    def call(*arguments: str) -> Output:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return call


@pytest.fixture(autouse=True)
def no_wait_for_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches do not wait for a calm machine: tests beside them keep it busy."""
    monkeypatch.setattr("plimsoll.load_line.find.measure_machine", lambda _: None)


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDbServer]:
    """One server shared by every test that leaves it as it was; see `fresh_database`."""
    with MariaDbServer.start(directory=tmp_path_factory.mktemp("mariadb") / "shared") as server:
        yield server


@pytest.fixture
def mariadb_factory(tmp_path: Path) -> Iterator[MariaDbFactory]:
    """Start servers of the test's own; keyword arguments as `MariaDbServer.start`."""
    with several(MariaDbServer.start, tmp_path / "mariadb") as start:
        yield start


@pytest.fixture(scope="session")
def cassandra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CassandraServer]:
    """One Cassandra shared by every test that leaves it as it was; it takes 10 s to start."""
    with CassandraServer.start(
        directory=tmp_path_factory.mktemp("cassandra") / "shared", settings=GUARDED_SETTINGS
    ) as server:
        yield server


@pytest.fixture
def connection(mariadb: MariaDbServer) -> Iterator[Connection]:
    """A connection to the shared server, each statement its own transaction."""
    opened = connected(mariadb, autocommit=True)
    yield opened
    opened.close()


@pytest.fixture
def fresh_database(
    mariadb: MariaDbServer,
    connection: Connection,
    request: pytest.FixtureRequest,
) -> Iterator[str]:
    """An empty database of the shared server, dropped after the test; gives its DSN."""
    name = f"test_{abs(hash(request.node.nodeid)):x}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
        yield mariadb.dsn.rsplit("/", 1)[0] + f"/{name}"
        cursor.execute(f"DROP DATABASE {name}")


class ProbeSettings(Settings):
    """What the function `probe` is told."""

    poll_seconds: int


PROBE_FUNCTIONS = {
    function.name: function
    for function in (
        Function(
            name="probe",
            summary="Does what its event says.",
            timeout_s=60,
            memory_mib=256,
            settings=ProbeSettings,
        ),
        Function(name="brief", summary="The same, for a second.", timeout_s=1, memory_mib=128),
        Function(name="broken", summary="Has no handler.", timeout_s=60, memory_mib=128),
        Function(name="again", summary="Is repeated.", timeout_s=60, memory_mib=128, retries=2),
        Function(name="api", summary="Answers HTTP with its event.", timeout_s=60, memory_mib=128),
        Function(name="brief-api", summary="The same, for a second.", timeout_s=1, memory_mib=128),
    )
}


@pytest.fixture(params=["mariadb", "postgres"])
def target(request: pytest.FixtureRequest) -> Iterator[EngineTarget]:
    """An empty database of the test's own, on each server that speaks SQL."""
    if request.param == "mariadb":
        yield parse_dsn(request.getfixturevalue("fresh_database"))
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = f"test_{uuid.uuid4().hex[:16]}"
    with closing(connected_to_postgres(server)) as root:
        root.run(f"CREATE DATABASE {name}")
        try:
            yield parse_dsn(server.dsn).model_copy(update={"database": name})
        finally:
            root.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalTwin]:
    """One machine as AWS, shared, with functions that do what their event says."""
    base = tmp_path_factory.mktemp("twin")
    (base / "machines").mkdir()
    (base / "functions").mkdir()
    probe = Path(__file__).parent / "functions/probe"
    for name in ("probe", "brief", "again"):
        (base / "functions" / name).symlink_to(probe)
    (base / "functions/broken").mkdir()
    for name in ("api", "brief_api"):
        (base / "functions" / name).symlink_to(Path(__file__).parent / "functions/echo")
    with LocalTwin(
        base / "aws",
        functions=PROBE_FUNCTIONS,
        functions_directory=base / "functions",
        state_machines_directory=base / "machines",
        retry_delay_s=0.05,
    ) as running:
        yield running


class Machines:
    """Makes state machines of fragments, and runs them."""

    def __init__(self, twin: LocalTwin) -> None:
        self.twin = twin
        self.client = twin.client("stepfunctions")

    def create(self, states: dict[str, Any], **members: Any) -> str:
        """Make a machine that starts at its first state; gives its ARN."""
        definition = {
            "QueryLanguage": "JSONata",
            "StartAt": next(iter(states)),
            "States": states,
            **members,
        }
        arn: str = self.client.create_state_machine(
            name=f"m-{uuid.uuid4()}", definition=json.dumps(definition), roleArn=ROLE
        )["stateMachineArn"]
        return arn

    def start(self, states: dict[str, Any], given: Any = None, **members: Any) -> str:
        """Start a machine made of states; gives the execution's ARN."""
        arn: str = self.client.start_execution(
            stateMachineArn=self.create(states, **members), input=json.dumps(given or {})
        )["executionArn"]
        return arn

    def wait(self, execution: str, status: str | None = None) -> dict[str, Any]:
        """Wait until an execution has ended; describe it."""
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            told: dict[str, Any] = self.client.describe_execution(executionArn=execution)
            if told["status"] != "RUNNING":
                assert status in (None, told["status"]), told
                return told
            time.sleep(0.02)
        raise AssertionError(f"{execution} still runs")

    def run(self, states: dict[str, Any], given: Any = None, **members: Any) -> dict[str, Any]:
        """Run a machine made of states to its end; describe it."""
        return self.wait(self.start(states, given, **members))

    def output(self, states: dict[str, Any], given: Any = None) -> Any:
        """Run a machine made of states; gives its output."""
        told = self.run(states, given)
        assert told["status"] == "SUCCEEDED", told
        return json.loads(told["output"])

    def history(self, execution: str) -> list[dict[str, Any]]:
        """Give an execution's events."""
        events: list[dict[str, Any]] = self.client.get_execution_history(executionArn=execution)[
            "events"
        ]
        return events


@pytest.fixture
def machines(twin: LocalTwin) -> Machines:
    """State machines on the shared twin."""
    return Machines(twin)
