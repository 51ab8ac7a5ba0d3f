"""What reads, checks and reckons loads nothing that reaches out: no AWS, no driver, no engine."""

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

REACHES_OUT = ("boto3", "botocore", "cassandra", "pymysql", "plimsoll_engine")
PURE = ("model", "capacity", "workload", "prices", "requests", "quoting")
# of those folders, the modules that talk to something, and what they need for it
TALKING: dict[str, set[str]] = {
    "plimsoll.workload.cassandra": {"cassandra"},  # a session of a cluster
    "plimsoll.workload.cql": {"cassandra"},  # makes tables and reads them over a session
    "plimsoll.workload.database": {"pymysql"},  # a server of either family
    "plimsoll.workload.dataset": {"pymysql"},  # loads rows into a server
    "plimsoll.workload.mysql": {"pymysql"},  # a connection to a server
    "plimsoll.workload.prepare": {"pymysql", "plimsoll_engine"},  # the engine makes the rows
}
CHECK = """
import sys
from importlib import import_module

names, forbidden = (argument.split(",") for argument in sys.argv[1:])
for name in names:
    import_module(name)
    if loaded := [other for other in forbidden if other in sys.modules]:
        sys.exit(f"{name} loads {','.join(loaded)}")
"""


def modules() -> list[str]:
    packages = [import_module(f"plimsoll.{folder}") for folder in PURE]
    return [
        module.name
        for package in packages
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    ]


def loading(names: list[str]) -> str:
    """Import modules one after the other in a fresh interpreter; which is the first that loads."""
    command = [sys.executable, "-c", CHECK, ",".join(names), ",".join(REACHES_OUT)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr.strip()


def test_what_is_pure_loads_nothing_that_reaches_out() -> None:
    pure = [name for name in modules() if name not in TALKING]
    assert len(pure) > 50
    assert loading(pure) == ""


@pytest.mark.parametrize("name", TALKING)
def test_what_talks_to_something_loads_that_alone(name: str) -> None:
    loaded = loading([name]).removeprefix(f"{name} loads ").split(",")
    assert set(loaded) == TALKING[name]
