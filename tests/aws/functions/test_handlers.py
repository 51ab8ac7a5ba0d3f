"""Every function of the table has its handler, and needs no more than its package carries."""

import json
import subprocess
import sys

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local.deploying import make_default_settings
from plimsoll.model.deployment.function_settings import SubmitSettings
from plimsoll.model.deployment.functions import FUNCTIONS, OF_DEPLOYMENT, Function
from plimsoll.packaged import find_packaged_folder

HANDLERS = find_packaged_folder("functions")
IMPORTS = """
import importlib.util, json, os, sys
sys.modules |= dict.fromkeys({absent})  # importing one of them fails
for folder, environment, kind in json.loads({functions!r}):
    before = dict(os.environ)
    os.environ |= environment
    spec = importlib.util.spec_from_file_location(folder, f"{handlers}/{{folder}}/handler.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert callable(module.handler), folder
    assert type(module.SETTINGS).__name__ == kind, folder
    for name in environment:
        del os.environ[name]
"""
OF_EXTRAS = {"service": ["aws_lambda_powertools"], "checks": ["otava", "scipy"]}
EXTRAS = ["moto", "awslambdaric", "jsonata", "aws_cdk", "rich", "click"]


def environment(function: Function) -> dict[str, str]:
    return function.settings.variables(make_default_settings())


def test_the_folders_are_those_of_the_table() -> None:
    folders = {path.parent.name for path in HANDLERS.glob("*/handler.py")}
    assert folders == {function.folder for function in (*FUNCTIONS.values(), *OF_DEPLOYMENT)}


PACKAGES = sorted({(function.engine, function.extras) for function in FUNCTIONS.values()})


@pytest.mark.parametrize(("engine", "extras"), PACKAGES)
def test_handlers_import_with_what_their_package_carries_and_their_row_tells_them(
    *, engine: bool, extras: tuple[str, ...]
) -> None:
    every = (*FUNCTIONS.values(), *OF_DEPLOYMENT)
    functions = [f for f in every if (f.engine, f.extras) == (engine, extras)]
    optional = [name for extra, names in OF_EXTRAS.items() if extra not in extras for name in names]
    code = IMPORTS.format(
        absent=[*EXTRAS, *optional, *([] if engine else ["plimsoll_engine"])],
        functions=json.dumps([[f.folder, environment(f), f.settings.__name__] for f in functions]),
        handlers=HANDLERS,
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=HANDLERS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_finds_its_settings_in_its_own_environment(name: str) -> None:
    row = FUNCTIONS[name]
    read = row.settings.read(environment(row))
    assert read == row.settings.of_deployment(make_default_settings())
    assert read.model_dump()["results_bucket"] == "plimsoll-results"


def test_every_variable_that_is_missing_is_named_in_one_error() -> None:
    told = environment(FUNCTIONS["submit-cell"])
    for name in ("RUNS_TABLE", "TEAMS", "PRICES"):
        del told[name]
    with pytest.raises(PlimsollError, match=r"environment: .*RUNS_TABLE") as raised:
        SubmitSettings.read(told)
    missing = str(raised.value).removeprefix("missing in the environment: ").split(", ")
    assert sorted(missing) == ["PRICES", "RUNS_TABLE", "TEAMS"]


def test_what_is_empty_or_no_json_is_not_taken_for_a_setting() -> None:
    told = environment(FUNCTIONS["submit-cell"])
    with pytest.raises(PlimsollError, match=r"wrong in the environment: TEAMS \("):
        SubmitSettings.read({**told, "TEAMS": "default"})
    assert SubmitSettings.read({**told, "RESULTS_DAYS": ""}).results_days is None
    assert SubmitSettings.read({**told, "RESULTS_DAYS": "7"}).results_days == 7
