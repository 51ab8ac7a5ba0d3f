"""Accounts that log in by another method than MariaDB's own."""

from pathlib import Path

import pytest

from plimsoll.model.request.dsn import parse_dsn
from plimsoll_engine import EngineError
from tests.local.conftest import MariaDbFactory
from tests.local.load.driving import drive
from tests.support.mariadb_connection import connected

PLUGINS = Path(__file__).parents[3] / ".cache/debian/mariadb-server/usr/lib/mysql/plugin"


def test_ed25519(mariadb_factory: MariaDbFactory) -> None:
    """MariaDB's login by an elliptic curve, by Debian's build of its plugin."""
    if not PLUGINS.exists():
        pytest.fail("MariaDB's plugins are not there: make .venv/.stamps/test-programs")
    server = mariadb_factory(
        settings={"plugin_dir": str(PLUGINS), "plugin_load_add": "auth_ed25519"}
    )
    with connected(server) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE USER curve@'%' IDENTIFIED VIA ed25519 USING PASSWORD('s3cret')")
        cursor.execute(f"GRANT ALL ON {server.database}.* TO curve@'%'")
        cursor.execute(f"CREATE TABLE {server.database}.t (id INT PRIMARY KEY, v INT)")
    dsn = f"mysql://curve:PASSWORD@{server.host}:{server.port}/{server.database}"
    target = parse_dsn(dsn.replace("PASSWORD", "s3cret"))
    report = drive(target, connections=2, duration_s=60, operations_limit=20)
    assert report.operations["read"].succeeded == 20
    with pytest.raises(EngineError, match="Access denied for user 'curve'"):
        drive(parse_dsn(dsn.replace("PASSWORD", "wrong")), connections=2, duration_s=60)
