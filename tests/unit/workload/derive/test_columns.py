"""Types of columns as servers write them, and as workloads have them."""

import pytest

from plimsoll.model.run.statements_seen import ColumnSeen
from plimsoll.workload.declared import read_part
from plimsoll.workload.derive.columns import map_type
from plimsoll.workload.tables import Column
from plimsoll.workload.values import Scope

TYPES = [
    ("int(11)", "int", True),
    ("bigint(20) unsigned", "bigint unsigned", True),
    ("int(5) unsigned zerofill", "int unsigned", True),
    ("varchar(40)", "varchar(40)", True),
    ("character varying(40)", "varchar(40)", True),
    ("decimal(10,2)", "decimal(10, 2)", True),
    ("numeric(10,2)", "decimal(10, 2)", True),
    ("datetime(6)", "datetime(6)", True),
    ("timestamp without time zone", "timestamp", True),
    ("timestamp(3) with time zone", "timestamp", True),
    ("double precision", "double", True),
    ("jsonb", "json", True),
    ("enum('a secret','b')", "varchar(255)", False),
    ("time", "varchar(255)", False),
    ("boolean", "boolean", True),
    ("uuid", "char(36)", False),
    ("year(4)", "smallint", False),
    ("bit(1)", "bigint", False),
    ("numeric", "decimal(20, 4)", False),
    ("geometry", "text", False),
    ("something(x) of 'theirs'", "text", False),
]


@pytest.mark.parametrize(("seen", "ours", "same"), TYPES)
def test_a_type_is_one_that_workloads_have(seen: str, ours: str, same: bool) -> None:
    assert map_type(ColumnSeen(name="x", type=seen).type) == (ours, same)
    assert (
        read_part(Column, {"type": ours, "value": {"literal": None}}, Scope(row=True)).type == ours
    )
