"""Prices of another region, which stand alone: of three classes, so that a ranking is soon made."""

from typing import Any

PRICES: dict[str, Any] = {
    "region": "eu-west-1",
    "as_of": "2026-11-01",
    "usd": {
        "rds-mariadb": {"db.m6i.large": 0.19, "db.m6i.xlarge": 0.38, "db.r6g.2xlarge": 0.95},
        "rds-storage": dict.fromkeys(("gp2", "gp3", "io1", "io2"), 0.13),
        "rds-iops": {"gp3": 0.022, "io1": 0.11, "io2": 0.11},
        "rds-throughput": {"gp3": 0.088},
        "secrets-manager": {"secret": 0.4},
    },
}
