"""What the page on databases says of every protocol."""

from pathlib import Path
from typing import get_args

from plimsoll.local.databases.mariadb_program import VERSION as MARIADB
from plimsoll.local.databases.postgres_program import PINNED
from plimsoll.model.engine.asked import Protocol
from plimsoll.model.request.cassandra_target import VERSION as CASSANDRA
from plimsoll.words import ENGINES

PAGE = (Path(__file__).parents[2] / "docs/databases.md").read_text()


def test_what_counts_is_said_for_every_protocol_and_kind_of_answer() -> None:
    section = PAGE.partition("\n## What counts\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")]
    assert {len(row) for row in rows} == {1 + len(get_args(Protocol))}
    for name in (ENGINES["mysql"], ENGINES["postgres"], ENGINES["cassandra"]):
        assert name in " ".join(rows[0])
    asked = {row[0].removeprefix("| ") for row in rows}
    assert {"a read", "an update", "an insert", "a delete", "the end of a transaction"} <= asked
    assert "What no answer of any of them proves" in section


def test_every_server_that_tests_start_is_listed_with_its_version() -> None:
    section = PAGE.partition("\n## What was tried\n")[2].partition("\n## ")[0]
    pinned = [one.version.removesuffix(".0") for one in PINNED.values()]
    for version in (MARIADB, CASSANDRA, *pinned):
        assert version in section
    for other in ("MySQL 8.0, 8.4, 9 | stub", "MariaDB 10.5", "PgBouncer", "ProxySQL | stub"):
        assert other in section
