"""A server's certificate is believed only from the authority given, and only for its own name."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.databases.mysql import session
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.engine.asked import EngineTarget, Tls
from plimsoll.model.request.dsn import parse_dsn
from plimsoll_engine import EngineError
from tests.local.load.driving import drive
from tests.support.certificates import Authority
from tests.support.mariadb_connection import connected

OURS, ANOTHER = Authority.new(), Authority.new()


@pytest.fixture(scope="module", params=["127.0.0.1", "127.0.0.2"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, EngineTarget]]:
    """A server with our authority's certificate for an address, its own or not."""
    base = tmp_path_factory.mktemp("tls")
    settings = OURS.sign(base / "keys", request.param).settings
    with MariaDbServer.start(directory=base / "server", settings=settings) as running:
        target = parse_dsn(running.dsn)
        with connected(running) as connection, connection.cursor() as cursor:
            cursor.execute("SET GLOBAL require_secure_transport = ON")
            cursor.execute(f"CREATE TABLE {running.database}.t (id INT PRIMARY KEY, v INT)")
        yield request.param, target


@pytest.mark.parametrize(
    ("tls", "believed_for"),
    [
        (Tls(verify=True, ca_pem=OURS.pem), {"127.0.0.1"}),
        (Tls(verify=True, ca_pem=ANOTHER.pem + OURS.pem), {"127.0.0.1"}),
        (Tls(verify=True, ca_pem=ANOTHER.pem), set[str]()),
        (Tls(verify=True), set[str]()),
        (Tls(verify=False), {"127.0.0.1", "127.0.0.2"}),
    ],
    ids=["ours", "both", "another", "the system's", "unverified"],
)
def test_a_certificate_is_believed(
    server: tuple[str, EngineTarget], tls: Tls, believed_for: set[str]
) -> None:
    address, target = server
    asked = target.model_copy(update={"tls": tls})
    if address in believed_for:
        report = drive(asked, connections=2, duration_s=60, operations_limit=20)
        assert report.operations["read"].succeeded == 20
        return
    with pytest.raises(EngineError, match=r"(?i)certificate"):
        drive(asked, connections=2, duration_s=60, operations_limit=20)


@pytest.mark.parametrize("authority", [OURS, ANOTHER], ids=["ours", "another"])
def test_an_authority_of_ones_own_is_trusted_by_the_variable(
    server: tuple[str, EngineTarget],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    authority: Authority,
) -> None:
    """`SSL_CERT_FILE` names it for the engine's connections, and for those of Python."""
    address, target = server
    (tmp_path / "ca.pem").write_text(authority.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    asked = target.model_copy(update={"tls": Tls(verify=True)})
    if (address, authority) == ("127.0.0.1", OURS):
        assert drive(asked, connections=1, duration_s=60, operations_limit=10).operations
        session.connect(asked).close()
        return
    with pytest.raises(EngineError, match=r"(?i)certificate"):
        drive(asked, connections=1, duration_s=60, operations_limit=10)
    with pytest.raises(PlimsollError, match=r"(?i)certificate"):
        session.connect(asked)
