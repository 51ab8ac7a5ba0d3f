"""Every function of the table has its handler, and needs no more than its package carries."""

import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.aws.function_settings import Deployment
from plimsoll.model.functions import FUNCTIONS

ROOT = Path(__file__).parents[3]
IMPORTS = """
import importlib.util, os, sys
os.environ |= dict.fromkeys({variables}, "1") | dict({special})
sys.modules |= dict.fromkeys({absent})  # importing one of them fails
for folder in {folders}:
    spec = importlib.util.spec_from_file_location(folder, f"functions/{{folder}}/handler.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert callable(module.handler), folder
"""
SPECIAL = {
    "ALLOWED_ENDPOINTS": "{}",
    "PRICES": "{}",
    "CASSANDRA": "null",
    "TARGET_KINDS": "[]",
    "TEAMS": "{}",
}
OF_EXTRAS = {"service": ["aws_lambda_powertools"], "checks": ["otava", "scipy"]}
EXTRAS = ["moto", "awslambdaric", "jsonata", "aws_cdk", "rich", "click"]


def test_the_folders_are_those_of_the_table() -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/handler.py")}
    of_the_deployment = {"guard_deployment"}  # serves `cdk destroy` and no run
    assert folders - of_the_deployment == {function.folder for function in FUNCTIONS.values()}


PACKAGES = sorted({(function.engine, function.extras) for function in FUNCTIONS.values()})


@pytest.mark.parametrize(("engine", "extras"), PACKAGES)
def test_handlers_import_with_what_their_package_carries(
    *, engine: bool, extras: tuple[str, ...]
) -> None:
    functions = [f for f in FUNCTIONS.values() if (f.engine, f.extras) == (engine, extras)]
    optional = [name for extra, names in OF_EXTRAS.items() if extra not in extras for name in names]
    code = IMPORTS.format(
        special=SPECIAL,
        variables=sorted({name for function in functions for name in function.environment}),
        absent=[*EXTRAS, *optional, *([] if engine else ["plimsoll_engine"])],
        folders=[function.folder for function in functions],
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_finds_its_settings_in_its_own_environment(name: str) -> None:
    given = dict.fromkeys(FUNCTIONS[name].environment, "1") | SPECIAL
    assert Deployment.of_function(name, given).results_bucket == "1"
