"""Tables as people have them: a workload uses each, or is refused with the cure."""

import pytest

from plimsoll.databases.existing_keys import draw_from_existing, find_missing_keys
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import parse_workload
from tests.local.load.driving import drive
from tests.local.load_line.test_own_keys import run_sql

ROWS = 20
TWICE = "twice BIGINT GENERATED ALWAYS AS (id * 2) STORED"
COLUMNS = "(id BIGINT PRIMARY KEY, v INT)"
NUMBERED = "id: {type: bigint, value: row}"
TEXTS = "id: {type: varchar(40), value: row}"


def write_workload(
    table: str = "orders", columns: str = NUMBERED, keys: str = "", sql: str | None = None
) -> str:
    """Return a workload that reads rows by their keys."""
    sql = sql or f"SELECT * FROM {{{table}}} WHERE id = ?"
    binds = ", ".join([f"{{key: {table}}}"] * sql.count("?"))
    names = "[id, part]" if "part:" in columns else "[id]"
    return f"""\
about: Reads.
tables:
  {table}:
    rows: $records
    {keys}
    primary_key: {names}
    columns: {{{columns}}}
operations:
  read:
    weight: 1
    statements:
      - {{sql: '{sql}', binds: [{binds}]}}
"""


READ = write_workload()
SAMPLED = write_workload(keys="keys: sampled")
TEXT_KEYS = write_workload(columns=TEXTS, keys="keys: sampled")
COMPOSITE = write_workload(
    columns=f"{NUMBERED}, part: {{type: int, value: 7}}",
    sql="SELECT * FROM {orders} WHERE id = ? AND part = 7",
)
MARIADB_ROWS = f"FROM mysql.seq_0_to_{ROWS - 1}"
POSTGRES_ROWS = f"FROM generate_series(0, {ROWS - 1}) AS s(seq)"
# Name; workload; statements of MariaDB, of PostgreSQL; None if it is used, else what refuses it.
# `@` stands for the source of the numbers 0 to 19, each a row with the column seq.
TABLES = [
    (
        "partitions",
        READ,
        [
            f"CREATE TABLE orders {COLUMNS} PARTITION BY HASH (id) PARTITIONS 4",
            "INSERT INTO orders SELECT seq, 1 @",
        ],
        [
            f"CREATE TABLE orders {COLUMNS} PARTITION BY RANGE (id)",
            "CREATE TABLE orders_a PARTITION OF orders FOR VALUES FROM (0) TO (10)",
            "CREATE TABLE orders_b PARTITION OF orders FOR VALUES FROM (10) TO (99)",
            "INSERT INTO orders SELECT seq, 1 @",
        ],
        None,
    ),
    (
        "a reserved name",
        write_workload("order"),
        [f"CREATE TABLE `order` {COLUMNS}", "INSERT INTO `order` SELECT seq, 1 @"],
        [f'CREATE TABLE "order" {COLUMNS}', 'INSERT INTO "order" SELECT seq, 1 @'],
        None,
    ),
    (
        "a name with a blank",
        write_workload("order items"),
        [f"CREATE TABLE `order items` {COLUMNS}"],
        [f'CREATE TABLE "order items" {COLUMNS}'],
        "order items: a name has letters, digits and _.*can be read through a view",
    ),
    (
        "a generated column",
        READ,
        [
            f"CREATE TABLE orders (id BIGINT PRIMARY KEY, {TWICE})",
            "INSERT INTO orders (id) SELECT seq @",
        ],
        [
            f"CREATE TABLE orders (id BIGINT PRIMARY KEY, {TWICE})",
            "INSERT INTO orders (id) SELECT seq @",
        ],
        None,
    ),
    (
        "a view",
        SAMPLED,
        [
            f"CREATE TABLE kept {COLUMNS}",
            "INSERT INTO kept SELECT seq, 1 @",
            "CREATE VIEW orders AS SELECT id, v FROM kept WHERE id > 3",
        ],
        [
            f"CREATE TABLE kept {COLUMNS}",
            "INSERT INTO kept SELECT seq, 1 @",
            "CREATE VIEW orders AS SELECT id, v FROM kept WHERE id > 3",
        ],
        None,
    ),
    (
        "small unsigned keys of 64 bits",
        SAMPLED,
        [
            "CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY)",
            "INSERT INTO orders SELECT seq @",
        ],
        ["CREATE TABLE orders (id BIGINT PRIMARY KEY)", "INSERT INTO orders SELECT seq @"],
        None,
    ),
    (
        "keys above 63 bits",
        SAMPLED,
        [
            "CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY)",
            "INSERT INTO orders SELECT 18446744073709551615 - seq @",
        ],
        [
            "CREATE TABLE orders (id NUMERIC(20) PRIMARY KEY)",
            "INSERT INTO orders SELECT 18446744073709551615 - seq @",
        ],
        "orders cannot be sampled: id has values that are neither.*another unique column",
    ),
    (
        "UUID keys",
        TEXT_KEYS,
        ["CREATE TABLE orders (id UUID PRIMARY KEY)", "INSERT INTO orders SELECT UUID() @"],
        [
            "CREATE TABLE orders (id UUID PRIMARY KEY)",
            "INSERT INTO orders SELECT gen_random_uuid() @",
        ],
        None,
    ),
    (
        "binary keys",
        TEXT_KEYS,
        [
            "CREATE TABLE orders (id BINARY(16) PRIMARY KEY)",
            "INSERT INTO orders SELECT UNHEX(MD5(seq)) @",
        ],
        [
            "CREATE TABLE orders (id BYTEA PRIMARY KEY)",
            "INSERT INTO orders SELECT decode(md5(seq::text), 'hex') @",
        ],
        "orders cannot be sampled: id has values that are neither.*another unique column",
    ),
    (
        "a key of two columns",
        COMPOSITE,
        [
            "CREATE TABLE orders (id BIGINT, part INT, PRIMARY KEY (id, part))",
            "INSERT INTO orders SELECT seq, 7 @",
        ],
        [
            "CREATE TABLE orders (id BIGINT, part INT, PRIMARY KEY (id, part))",
            "INSERT INTO orders SELECT seq, 7 @",
        ],
        None,
    ),
    (
        "NULL among the keys and values",
        SAMPLED,
        [
            "CREATE TABLE orders (id BIGINT UNIQUE, v INT)",
            "INSERT INTO orders SELECT seq, NULL @",
            "INSERT INTO orders VALUES (NULL, NULL)",
        ],
        [
            "CREATE TABLE orders (id BIGINT UNIQUE, v INT)",
            "INSERT INTO orders SELECT seq, NULL @",
            "INSERT INTO orders VALUES (NULL, NULL)",
        ],
        None,
    ),
]


@pytest.mark.parametrize(
    ("workload", "mariadb_sql", "postgres_sql", "refusal"),
    [case[1:] for case in TABLES],
    ids=[case[0] for case in TABLES],
)
def test_a_table_is_used_or_refused_with_the_cure(
    target: EngineTarget,
    workload: str,
    mariadb_sql: list[str],
    postgres_sql: list[str],
    refusal: str | None,
) -> None:
    if target.protocol == "mysql":
        run_sql(target, *(sql.replace("@", MARIADB_ROWS) for sql in mariadb_sql))
    else:
        run_sql(target, *(sql.replace("@", POSTGRES_ROWS) for sql in postgres_sql))
    if refusal is not None:
        with pytest.raises(PlimsollError, match=refusal):
            draw_from_existing(target, parse_workload(workload).compile(ROWS, {}, target.protocol))
        return
    compiled = parse_workload(workload).compile(ROWS, {}, target.protocol)
    drawn = draw_from_existing(target, compiled)
    assert find_missing_keys(target, drawn) == []
    report = drive(target, drawn.engine, connections=1, duration_s=60.0, operations_limit=50)
    read = report.operations["read"]
    assert (read.succeeded, read.rows, report.error_examples) == (50, 50, {})


def test_a_view_gives_a_table_the_name_that_it_lacks(target: EngineTarget) -> None:
    quoted = "`Order Items`" if target.protocol == "mysql" else '"Order Items"'
    numbers = MARIADB_ROWS if target.protocol == "mysql" else POSTGRES_ROWS
    run_sql(
        target,
        f"CREATE TABLE {quoted} {COLUMNS}",
        f"INSERT INTO {quoted} SELECT seq, 1 {numbers}",
        f"CREATE VIEW orders AS SELECT * FROM {quoted}",
    )
    compiled = parse_workload(READ).compile(ROWS, {}, target.protocol)
    assert find_missing_keys(target, compiled) == []


def test_a_name_with_capitals_is_not_found_on_postgresql(postgres: PostgresServer) -> None:
    target = parse_dsn(postgres.dsn)
    run_sql(target, f'CREATE TABLE "Lines" {COLUMNS}')
    try:
        compiled = parse_workload(write_workload("Lines")).compile(ROWS, {}, "postgres")
        with pytest.raises(PlimsollError, match='relation "lines" does not exist'):
            find_missing_keys(target, compiled)
    finally:
        run_sql(target, 'DROP TABLE "Lines"')
