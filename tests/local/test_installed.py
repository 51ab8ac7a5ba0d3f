"""The wheel in an empty environment, outside the checkout: what users install works there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.cache import open_cache_directory
from plimsoll.local.databases.mariadb_server import MariaDbServer
from tests.support.command import BRIEF

pytestmark = pytest.mark.whole  # installing takes long; the checkout's command is in `make test`
ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
REQUEST = """\
name: tiny
target:
  {kind: rds, engine: mariadb, engine_version: "11.4", instance_class: db.m5.large,
   volume: {type: io1, size_gib: 100, iops: 2000}}
workload: {name: ycsb-c, records: 500}
load: {warmup_s: 0, duration_s: 1}
prepare: {warm_s: 0}
search: {strategy: steps, clients: [1]}
limits: {confirmation: null, limits_us: {read: 10000000}, audits_off: [undisturbed]}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the command in an environment that holds the wheel with its extra `local`."""
    folder = tmp_path_factory.mktemp("installed")
    engine = max(
        (ROOT / ".cache/wheels").glob("plimsoll_engine-*.whl"),
        key=lambda path: path.stat().st_mtime,
    )
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    call(build, cwd=ROOT, PLIMSOLL_ENGINE=str(engine))
    (wheel,) = folder.glob("plimsoll_db-*.whl")
    assert wheel.stem.split("-")[2:4] == ["cp311", "abi3"]
    python = folder / "environment/bin/python"
    call([str(BIN / "uv"), "venv", "--quiet", "--python", sys.executable, str(python.parents[1])])
    lock = str(ROOT / "requirements-dev.txt")
    install = [str(BIN / "uv"), "pip", "install", "--quiet", "--python", str(python)]
    call([*install, "--constraints", lock, f"plimsoll-db[local] @ {wheel.as_uri()}"])
    return python.parent


def call(command: list[str], cwd: Path | None = None, **variables: str) -> str:
    """Call a program, which has to succeed; gives its standard output."""
    environment = {**os.environ, **variables}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_names_itself_and_says_what_is_here(installed: Path, tmp_path: Path) -> None:
    plimsoll = str(installed / "plimsoll")
    assert call([plimsoll, "--version"], cwd=tmp_path) == "plimsoll, version 0.1.0\n"
    findings = json.loads(
        call([plimsoll, "doctor", "--json"], cwd=tmp_path, PLIMSOLL_CACHE=cache())
    )
    states = {row["what"]: row["state"] for row in findings}
    assert states["load engine"] == states["local twin"] == states["MariaDB server"] == "ok"


def test_it_finds_the_load_line_of_a_database(
    installed: Path, mariadb: MariaDbServer, fresh_database: str, tmp_path: Path
) -> None:
    del mariadb
    find = [str(installed / "plimsoll"), "find", fresh_database, "--workload", "ycsb-c", "--drop"]
    find += ["--prepare", "--records", "500", *BRIEF, "--limit", "10s", "--json"]
    done = subprocess.run(find, cwd=tmp_path, capture_output=True, text=True, check=False)
    result = json.loads(done.stdout)
    assert result["rows"] == 500
    assert result["capacity"]["steps"], done.stderr
    (page,) = tmp_path.glob("plimsoll-results/find-*/report.html")
    assert 'data-panel="curve"' in page.read_text()


def test_it_runs_a_whole_run_on_the_stand_in(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(REQUEST)
    done = subprocess.run(
        [str(installed / "plimsoll"), "run", "tiny.yaml", "--local", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PLIMSOLL_CACHE": cache()},
        capture_output=True,
        text=True,
        check=False,
    )
    result = json.loads(done.stdout)
    assert result["state"] == "SUCCEEDED", done.stderr
    assert result["moments"]["deleted"] is not None


def cache() -> str:
    """Where this checkout has the servers that it has fetched."""
    return str(open_cache_directory())
