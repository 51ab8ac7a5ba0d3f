"""A small run, as a caller asks for it."""

from typing import Any

REQUESTED: dict[str, Any] = {
    "name": "small",
    "target": {
        "kind": "rds",
        "engine": "mariadb",
        "engine_version": "11.4",
        "instance_class": "db.m5.large",
        "volume": {"type": "io1", "size_gib": 100, "iops": 1000},
    },
    "workload": {"name": "ycsb-a", "records": 1000},
    "search": {"strategy": "steps", "clients": [1, 2]},
}
