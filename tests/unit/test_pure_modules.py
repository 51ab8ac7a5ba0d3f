"""What reads, checks and reckons loads nothing that reaches out: no AWS, no driver, no engine."""

import pkgutil
import subprocess
import sys
from importlib import import_module

REACHES_OUT = ("boto3", "botocore", "cassandra", "pg8000", "pymysql", "plimsoll_engine")
PURE = ("model", "capacity", "workload", "requests", "quoting", "sizing")
READS_PRODUCTION = "plimsoll.sizing.production"  # how these modules begin: they look at a server
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
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not module.name.startswith(READS_PRODUCTION)
    ]


def loading(names: list[str]) -> str:
    """Import modules one after the other in a fresh interpreter; which is the first that loads."""
    command = [sys.executable, "-c", CHECK, ",".join(names), ",".join(REACHES_OUT)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr.strip()


def test_what_is_pure_loads_nothing_that_reaches_out() -> None:
    pure = modules()
    assert len(pure) > 50
    assert loading(pure) == ""


def test_a_module_that_reaches_out_is_seen() -> None:
    reaching = "plimsoll.databases.mysql.session"
    assert loading([reaching]).startswith(f"{reaching} loads pymysql")
