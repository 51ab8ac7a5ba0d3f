"""Digests as servers have them, their tables, and the rows that stand in for theirs."""

from hashlib import blake2b
from typing import Any

from plimsoll.model.run.statements_seen import (
    ColumnSeen,
    Digest,
    StatementsSeen,
    TableSeen,
    TransactionSeen,
)

SBTEST = TableSeen(
    name="sbtest1",
    rows=9_871,
    columns=(
        ColumnSeen(name="id", type="int(11)", auto_increment=True, lowest=1, highest=10_000),
        ColumnSeen(name="k", type="int(11)", distinct=4_900, lowest=12, highest=9_990),
        ColumnSeen(name="c", type="char(120)", mean_length=119.0),
        ColumnSeen(name="pad", type="char(60)", mean_length=59.0),
    ),
    primary_key=("id",),
    indexes={"k_1": ("k",)},
)
USERTABLE = TableSeen(
    name="usertable",
    rows=4_950,
    columns=(
        ColumnSeen(name="YCSB_KEY", type="varchar(255)", mean_length=23.4),
        *(
            ColumnSeen(name=f"FIELD{n}", type="text", nullable=True, mean_length=100.0)
            for n in range(10)
        ),
    ),
    primary_key=("YCSB_KEY",),
)
ORDERS = TableSeen(
    name="orders",
    rows=100_000,
    columns=(
        ColumnSeen(name="id", type="bigint(20) unsigned", lowest=1, highest=120_000),
        ColumnSeen(name="customer_id", type="int(11)", distinct=5_000, top_share=0.61, lowest=7),
        ColumnSeen(name="state", type="enum('new','paid','secret stage')", nullable=True),
        ColumnSeen(name="placed", type="datetime"),
        ColumnSeen(name="note", type="varchar(40)", mean_length=12.0, nullable=True),
    ),
    primary_key=("id",),
    indexes={"customer": ("customer_id", "placed")},
)
LINES = TableSeen(
    name="order_lines",
    rows=400_000,
    columns=(
        ColumnSeen(name="order_id", type="bigint(20)"),
        ColumnSeen(name="line", type="int(11)"),
        ColumnSeen(name="price", type="decimal(10,2)"),
    ),
    primary_key=("order_id", "line"),
)
TABLES = (SBTEST, USERTABLE, ORDERS, LINES)
BY_NAME = {table.name: table for table in TABLES}


def digest(
    text: str,
    calls: int = 1000,
    *,
    rows: float = 1.0,
    examined: float | None = None,
    order: float = 0.0,
) -> Digest:
    """A digest whose calls met so many rows each, in 0.1 ms each."""
    met = round(calls * rows)
    return Digest(
        text=text,
        calls=calls,
        time_s=calls / 10_000,
        rows_sent=met,
        rows_examined=met if examined is None else round(calls * examined),
        rows_affected=met,
        order=order,
    )


def seen(*digests: Digest, interval_s: float | None = 10.0) -> StatementsSeen:
    """What a MariaDB would tell."""
    return StatementsSeen(
        protocol="mysql",
        server="11.4.5-MariaDB",
        database="shop",
        interval_s=interval_s,
        digests=digests,
        tables=TABLES,
    )


READ = "SELECT * FROM `usertable` WHERE `YCSB_KEY` = ?"
UPDATES = [f"UPDATE `usertable` SET `FIELD{n}` = ? WHERE `YCSB_KEY` = ?" for n in range(10)]
YCSB_B = seen(digest(READ, 95_000), *(digest(text, 500) for text in UPDATES))
COMMITS = 4_000
_IN_TRANSACTION = (
    ("SELECT `c` FROM `sbtest1` WHERE `id` = ?", 10, 1, 1),
    ("SELECT `c` FROM `sbtest1` WHERE `id` BETWEEN ? AND ?", 1, 100, 100),
    ("SELECT SUM ( `k` ) FROM `sbtest1` WHERE `id` BETWEEN ? AND ?", 1, 1, 100),
    ("SELECT `c` FROM `sbtest1` WHERE `id` BETWEEN ? AND ? ORDER BY `c`", 1, 100, 200),
    ("SELECT DISTINCT `c` FROM `sbtest1` WHERE `id` BETWEEN ? AND ? ORDER BY `c`", 1, 100, 300),
    ("UPDATE `sbtest1` SET `k` = `k` + ? WHERE `id` = ?", 1, 1, 1),
    ("UPDATE `sbtest1` SET `c` = ? WHERE `id` = ?", 1, 1, 1),
    ("DELETE FROM `sbtest1` WHERE `id` = ?", 1, 1, 1),
    ("INSERT INTO `sbtest1` ( `id` , `k` , `c` , `pad` ) VALUES (...)", 1, 1, 0),
)
OLTP_READ_WRITE = seen(
    digest("BEGIN", COMMITS + 3, rows=0),
    digest("COMMIT", COMMITS, rows=0),
    *(
        digest(text, COMMITS * times + 7, rows=rows, examined=examined, order=float(place))
        for place, (text, times, rows, examined) in enumerate(_IN_TRANSACTION)
    ),
).model_copy(
    update={
        "transactions": (
            TransactionSeen(
                calls=COMMITS,
                statements=tuple(
                    (2 + place, times) for place, (_, times, *_) in enumerate(_IN_TRANSACTION)
                ),
            ),
        ),
        "transactions_by": "the history of threads in performance_schema",
    }
)


def value_of(value: Any, row: int) -> Any:
    """Return a column's value in a row, as the engine makes it."""
    names = {"row": row, "hash": _hash}
    match value:
        case "row":
            return row
        case {"sum": of, "plus": more}:
            return value_of(of, row) + more
        case {"expr": text}:
            return eval(text.replace("/", "//"), {}, names)
        case {"if": text, "then": then, "else": otherwise}:
            return value_of(then if eval(text, {}, names) else otherwise, row)
        case {"fnv_hash": of}:
            return _hash(value_of(of, row))
        case {"format": template, "of": parts}:
            return template.format(*(value_of(part, row) for part in parts))
        case _:
            return value


def _hash(number: int) -> int:
    return int.from_bytes(blake2b(number.to_bytes(8), digest_size=7).digest())
