"""What a made-up service knows: two runs that have ended, and one of everything else."""

from typing import Any

from plimsoll.requests.schemas import schema
from tests.browser import console_documents as documents
from tests.browser.console_service import LaidDown
from tests.support.synthetic_run import request, synthetic_run

TOKEN = "t0ken-of-this-start"
SLOW, SLOW_SECONDS = synthetic_run(run_id="slow")
FAST, FAST_SECONDS = synthetic_run(knee=6.3, iops=2000, run_id="fast", seed=6)
EXPERIMENT: dict[str, Any] = {
    "record": {
        "experiment_id": "e1",
        "name": "which-iops",
        "team": "default",
        "state": "RUNNING",
        "cells": 4,
        "submitted_at": "2026-03-02T10:00:00Z",
        "failure": None,
    },
    "cells": [
        {
            "index": i,
            "name": f"{iops}-{workload}",
            "variants": {"iops": iops, "workload": workload},
            "run_id": run_id,
            "state": state,
            "phase": None,
            "verdict": verdict,
            "capacity_ops_per_second": figure,
        }
        for i, (iops, workload, run_id, state, verdict, figure) in enumerate(
            [
                ("1000-iops", "ycsb-a", "slow", "SUCCEEDED", "KNEE", "1200"),
                ("2000-iops", "ycsb-a", "fast", "SUCCEEDED", "KNEE", "2400"),
                ("1000-iops", "ycsb-b", "third", "RUNNING", None, None),
                ("2000-iops", "ycsb-b", "fourth", None, None, None),
            ]
        )
    ],
    "datasets": [],
    "result": None,
}


def history() -> dict[str, Any]:
    """Of a check that fell in its fifth run, and had no answer in its third."""
    figures = [1000.0, 1010.0, None, 990.0, 800.0, 805.0]
    points = [
        {
            "scheduled_at": f"2026-03-0{day}T02:30:00Z",
            "target": {
                "run_id": f"run-{day}",
                "comparable": "ab" * 32,
                "state": "SUCCEEDED",
                "verdict": "KNEE",
                "problem": None,
                "figures": {"capacity": _figure(value)},
            },
            "control": {
                "run_id": f"control-{day}",
                "comparable": "ab" * 32,
                "state": "SUCCEEDED",
                "verdict": "KNEE",
                "problem": None,
                "figures": {"capacity": _figure(500.0)},
            },
        }
        for day, value in enumerate(figures, 1)
    ]
    change = {
        "metric": "capacity",
        "unit": "ops/s",
        "at": "2026-03-05T02:30:00Z",
        "run_id": "run-5",
        "before": {"runs": 3, "mean": 1000.0, "standard_deviation": 10.0, "bound": "="},
        "after": {"runs": 2, "mean": 802.5, "standard_deviation": 3.5, "bound": "="},
        "change_share": -0.1975,
        "p_value": 0.0004,
        "regression": True,
    }
    return {"points": points, "changes": [change], "announced": [], "silences": []}


def _figure(value: float | None) -> dict[str, Any]:
    low, high = (None, None) if value is None else (0.97 * value, 1.03 * value)
    why = "the run was NOISY" if value is None else None
    return {
        "value": value,
        "at_least": None,
        "below": None,
        "low": low,
        "high": high,
        "why_none": why,
    }


CHECK = {
    "name": "nightly",
    "schedule": "rate(1 day)",
    "enabled": True,
    "next_at": None,
    "description": "",
}
ASKED = request().model_dump(mode="json", exclude_unset=True)
SCENARIO = {
    "name": "small-demo",
    "about": "A run that ends soon.",
    "kind": "run",
    "yaml": "",
    "requests": {
        "small-demo": {
            **ASKED,
            "target": {"kind": "rds", **ASKED["target"]},
            "search": {"strategy": "steps", **ASKED["search"]},
        }
    },
    "experiment": None,
}
QUOTE = {
    "region": "us-east-1",
    "phases": [{"name": "search", "expected_s": 120, "most_s": 600, "assumption": "8 steps"}],
    "time_s": {"least": 100, "expected": 190, "most": 700},
    "steps": {"least": 2, "expected": 8, "most": 30},
    "lines": [],
    "usd": {"least": 0.1, "expected": 0.19, "most": 0.7},
    "missing": [],
    "notes": [],
    "budget_usd": None,
}


WORKLOADS = [
    {"name": "ycsb-a", "about": "Half reads, half updates.", "operations": ["read", "update"]},
    {"name": "ycsb-b", "about": "Mostly reads.", "operations": ["read"]},
]


def known() -> LaidDown:
    """A service with two runs that have ended, an experiment, a check and a scenario."""
    laid = LaidDown()
    rows = [documents.row(SLOW, name="slow-run"), documents.row(FAST, name="fast-run")]
    laid.answers = {
        "/runs": {"runs": rows, "next_cursor": None, "unreadable": 0},
        "/comparisons": documents.comparison(SLOW, FAST),
        "/experiments": {"experiments": [EXPERIMENT["record"]], "unreadable": 0},
        "/experiments/e1": EXPERIMENT,
        "/schedules": {"schedules": [CHECK], "unreadable": 0},
        "/schedules/nightly": CHECK,
        "/schedules/nightly/history": history(),
        "/schemas/request": schema("request"),
        "/scenarios": {"scenarios": [SCENARIO]},
        "/workloads": {"workloads": WORKLOADS},
        "/runs/slow": rows[0],
        "/runs/slow/sizes": lambda asked: documents.sizes(SLOW, **asked.args),
        "/runs/slow/report": {
            "url": "http://127.0.0.1:9/report.html",
            "result_url": "",
            "expires_at": "",
        },
        "POST /quotes": QUOTE,
    }
    laid.tell("", "runs", {"runs": rows}, "1")
    for run_id in ("fast", "bad", "long"):
        laid.answers[f"/runs/{run_id}/report"] = laid.answers["/runs/slow/report"]
    for result, seconds in ((SLOW, SLOW_SECONDS), (FAST, FAST_SECONDS)):
        ended = documents.ended_run(result, seconds)
        laid.tell(result.run_id, "live", ended, ended["cursor"])
    return laid
