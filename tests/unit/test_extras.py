"""A wheel without its extras: each verb works, or names the command that brings the extra."""

import importlib.metadata
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from plimsoll import packaged
from plimsoll.cli import doctor
from plimsoll.cli.main import main

EXTRAS = (
    "aws_cdk",
    "aws_lambda_powertools",
    "awslambdaric",
    "constructs",
    "flask",
    "jsii",
    "jsonata",
    "moto",
    "opentelemetry",
    "otava",
    "packaging",
    "scipy",
    "werkzeug",
)
# The only modules that import packages of extras; whoever imports them looks for the extra first.
USERS = (
    "plimsoll.api.",  # the API, which runs on Lambda or in the stand-in
    "plimsoll.local.aws.",
    "plimsoll.local.front",
    "plimsoll.local.http_front",
    "plimsoll.local.lambdas.",
    "plimsoll.local.resources.",
    "plimsoll.metrics.otlp",
    "plimsoll.trial.on_one_machine",
)
BLOCK = """
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
IMPORT_ALL = """
import plimsoll
for module in pkgutil.walk_packages(plimsoll.__path__, "plimsoll."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError:
        print(module.name)
"""
CALL = """
from plimsoll.cli.main import main
main(sys.argv[2:])
"""
NO_SERVER = "mysql://u:p@127.0.0.1:1/d"


def call_without_extras(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCK + program, ",".join(EXTRAS), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def test_no_other_module_needs_an_extra() -> None:
    assert find_spec("werkzeug") is not None
    needing = call_without_extras(IMPORT_ALL).stdout.split()
    assert "plimsoll.local.front" in needing
    assert [name for name in needing if not name.startswith(USERS)] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("find", NO_SERVER, "--workload", "ycsb-c"),
        pytest.param(("load", "--dsn", NO_SERVER, "--workload", "ycsb-c"), marks=pytest.mark.whole),
        pytest.param(
            ("prepare", "--dsn", NO_SERVER, "--workload", "ycsb-c"), marks=pytest.mark.whole
        ),
    ],
)
def test_verbs_on_a_database_get_as_far_as_the_database(arguments: tuple[str, ...]) -> None:
    done = call_without_extras(CALL, *arguments)
    assert done.stderr == "plimsoll: cannot connect to 127.0.0.1:1: Connection refused\n"


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        (("find", NO_SERVER, "--workload", "ycsb-c", "--ui"), "--ui needs packages"),
        (("console", "--url", "https://d.example"), "the page needs packages"),
        (("serve",), "the stand-in for AWS needs packages"),
        (("canary", "--local"), "the stand-in for AWS needs packages"),
    ],
)
def test_verbs_that_need_an_extra_name_it(
    tmp_path: Path, arguments: tuple[str, ...], needs: str
) -> None:
    if arguments[0] == "canary":
        arguments = (*arguments, "--out", str(tmp_path / "canary"))
    done = call_without_extras(CALL, *arguments)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("plimsoll: ")]
    assert needs in line
    assert line.endswith("): make setup")
    assert "Traceback" not in done.stderr


@pytest.fixture
def in_a_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "is_installed_wheel", lambda: True)
    monkeypatch.setattr(doctor, "is_installed_wheel", lambda: True)


class Noted:
    def __init__(self, text: str | None) -> None:
        self.text = text

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.text


@pytest.mark.parametrize(
    ("url", "wheel"),
    [
        ("file:///home/me/my%20wheels/p.whl", "/home/me/my wheels/p.whl"),
        ("https://x/p.whl", "WHEEL"),
        (None, "WHEEL"),
    ],
)
@pytest.mark.parametrize("pipx", [True, False])
@pytest.mark.usefixtures("in_a_wheel")
def test_the_command_installs_the_wheel_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str | None, wheel: str, *, pipx: bool
) -> None:
    noted = Noted(None if url is None else json.dumps({"url": url}))
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: noted)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    if pipx:
        (tmp_path / "pipx_metadata.json").touch()
    tool = "pipx install --force" if pipx else f"{sys.executable} -m pip install"
    assert packaged.explain_install("local") == f"{tool} '{wheel}[local]'"


def test_doctor_prints_commands_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In rich's markup `[local]` is a style, and was not printed."""
    found = doctor.Finding("local twin", "optional", "no moto", "pipx install 'w[local]'")
    monkeypatch.setattr(doctor, "list_findings", lambda: [found])
    with pytest.raises(SystemExit):
        main(["doctor"])
    assert "pipx install 'w[local]'" in capsys.readouterr().out
