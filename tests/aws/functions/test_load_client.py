"""A load client starts a thousand at a time, so it loads what it needs and nothing else."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from plimsoll.local.deploying import make_default_settings
from plimsoll.model.deployment.functions import FUNCTIONS

ROOT = Path(__file__).parents[3]
MEMORY_MOST_MIB = 70  # after its import; 55 of 256 MiB were seen
IMPORT = """
import json, sys
import functions.load_client.handler
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
told = {
    "modules": sorted(name for name in files if name.split(".")[0] == "plimsoll"),
    "packages": sorted({name.split(".")[0] for name in files if "site-packages" in files[name]}),
    "memory_kib": int(status["VmHWM"].split()[0]),
}
print(json.dumps(told))
"""
PACKAGES = {
    "annotated_types", "boto3", "botocore", "certifi", "dateutil", "jmespath", "plimsoll_engine",
    "pydantic", "pydantic_core", "s3transfer", "six", "typing_extensions", "typing_inspection",
    "urllib3", "yaml",
}  # fmt: skip
# of an environment that `make setup` makes, not of a function's package
OF_THE_ENVIRONMENT = {"_distutils_hack"}
# Besides `model` and `workload`, which are pure.
MODULES = {
    "plimsoll", "plimsoll.complaints", "plimsoll.documents", "plimsoll.errors", "plimsoll.files",
    "plimsoll.machine", "plimsoll.packaged", "plimsoll.process_limits", "plimsoll.words",
    "plimsoll.aws", "plimsoll.aws.clients", "plimsoll.aws.function_log",
    "plimsoll.aws.items", "plimsoll.aws.run_files", "plimsoll.aws.run_records",
    "plimsoll.capacity", "plimsoll.capacity.steps", "plimsoll.capacity.steps.debt",
    "plimsoll.databases", "plimsoll.databases.load_user", "plimsoll.databases.reading_back",
    "plimsoll.databases.watching",
    "plimsoll.fleet", "plimsoll.fleet.background_client", "plimsoll.fleet.failures",
    "plimsoll.fleet.phase_plan", "plimsoll.fleet.plan", "plimsoll.fleet.watchdog",
    "plimsoll.metrics", "plimsoll.metrics.cloudwatch", "plimsoll.metrics.points",
    "plimsoll.metrics.publishing", "plimsoll.metrics.sink",
    "plimsoll.requests", "plimsoll.requests.checked_request",
    "plimsoll.targets", "plimsoll.targets.connection",
    "plimsoll.workflow", "plimsoll.workflow.client", "plimsoll.workflow.log_filling",
    "plimsoll.workflow.metric_points",
}  # fmt: skip


@cache
def imported() -> dict[str, Any]:
    """Import the client's handler in an interpreter of its own; what it has loaded then."""
    variables = FUNCTIONS["load-client"].settings.variables(make_default_settings())
    ran = subprocess.run(
        [sys.executable, "-c", IMPORT],
        cwd=ROOT,
        env={**variables, **{n: v for n, v in os.environ.items() if n == "PYTHONPATH"}},
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def test_it_loads_these_packages() -> None:
    loaded = set(imported()["packages"]) - OF_THE_ENVIRONMENT
    assert loaded - PACKAGES == set(), "crept in"
    assert PACKAGES - loaded == set(), "needed no more: shorten the list"


def test_it_loads_these_modules_of_plimsoll() -> None:
    rooms = ("plimsoll.model", "plimsoll.workload")
    loaded = {name for name in imported()["modules"] if not name.startswith(rooms)}
    assert loaded - MODULES == set(), "crept in"
    assert MODULES - loaded == set(), "needed no more: shorten the list"


def test_it_takes_little_memory() -> None:
    assert imported()["memory_kib"] / 1024 < MEMORY_MOST_MIB
