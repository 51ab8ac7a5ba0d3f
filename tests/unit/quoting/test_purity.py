"""Quotes are pure: they reckon with what they are given, and reach nothing."""

import subprocess
import sys
from pathlib import Path

IMPORT = """
import importlib, pkgutil, sys
import plimsoll.quoting
for module in pkgutil.iter_modules(plimsoll.quoting.__path__, "plimsoll.quoting."):
    importlib.import_module(module.name)
print([name for name in ("boto3", "botocore", "plimsoll.aws") if name in sys.modules])
"""


def test_a_quote_loads_nothing_of_aws() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
