"""Programs that write clients from docs/openapi.json: nothing is dropped, and the clients work.

openapi-python-client's calls what `plimsoll serve` runs; openapi-typescript's types take every
example.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from plimsoll.cli.main import cli
from plimsoll.local.account import REGION
from plimsoll.local.deploying import PRINCIPAL
from plimsoll.local.twin import LocalTwin
from tests.local.service.conftest import HEADER, PATIENCE_S, Caller
from tests.local.workflow.test_run_verb import ROOT, request_file
from tools.api_examples import answers, requests

# test_openapi.py holds the service against the same document
pytestmark = pytest.mark.whole
DOCUMENT = ROOT / "docs/openapi.json"
GENERATORS = ROOT / ".cache/generators"
PROGRAMS = ROOT / "node_modules/.bin"
PYTHON_CLIENT = (
    *(sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"),
    *("--meta", "none", "--config", "config.yaml"),
)
OPTIONAL = "--default-non-nullable=false"  # else what has a default has to be sent
CALLER = """
import json, sys
import httpx
from written import Client
from written.api.runs import get_run, list_runs, quote_run, start_run, stop_run
from written.models import Request

url, patience_s, header, principal = sys.argv[1:]
patience = httpx.Timeout(float(patience_s))
with Client(url, timeout=patience, headers={header: principal}) as client:
    run_id = start_run.sync(client=client, body=Request.from_dict(json.load(sys.stdin))).run_id
    listed = list_runs.sync(client=client, tag="of=generated")
    read = get_run.sync(run_id, client=client)
    stopped = stop_run.sync_detailed(run_id, client=client)
    quoted = quote_run.sync(client=client, body=read.request)
    absent = get_run.sync("no-such-run", client=client)
print(json.dumps({
    "run_id": run_id,
    "listed": [run.run_id for run in listed.runs] == [run_id],
    "request": read.request.to_dict(),
    "stopped": [stopped.status_code, stopped.parsed.state],
    "quoted": quoted.region,
    "absent": absent.type_,
}))
"""


def operations() -> set[str]:
    """Name the operations of the document."""
    paths = json.loads(DOCUMENT.read_text())["paths"].values()
    return {operation["operationId"] for path in paths for operation in path.values()}


def ran(command: list[str | Path], folder: Path, **options: Any) -> str:
    """Run a program; gives what it printed."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def client(tmp_path: Path) -> dict[str, str]:
    """A client that openapi-python-client has written; gives the environment that has it."""
    assert GENERATORS.is_dir(), "run: make .venv/.stamps/generators"
    environment = {**os.environ, "PYTHONPATH": f"{GENERATORS}:{tmp_path}"}
    (tmp_path / "config.yaml").write_text("post_hooks: []")  # it is not formatted
    told = ran(
        [*PYTHON_CLIENT, "--path", DOCUMENT, "--output-path", "written"],
        tmp_path,
        env=environment,
    )
    assert "warning" not in told.lower()
    return environment


def test_openapi_python_client_writes_every_operation_and_the_service_understands_it(
    tmp_path: Path, client: dict[str, str], api: Caller, twin_of_service: LocalTwin
) -> None:
    written = {path.stem for path in (tmp_path / "written/api").glob("*/*.py")}
    assert written - {"__init__"} == operations()

    assert twin_of_service  # of a service on this machine, whose callers need not sign
    file = request_file(tmp_path, load__duration_s=120, tags={"of": "generated"})
    validated = CliRunner().invoke(cli, ["validate", str(file), "--local", "--json"]).stdout
    answer = ran(
        [sys.executable, "-c", CALLER, api.url, str(PATIENCE_S), HEADER, PRINCIPAL],
        tmp_path,
        input=validated,
        env=client,
    )
    called = json.loads(answer)
    asked = {**json.loads(validated), "team": "default"}
    assert called.pop("request") == asked == {**asked, **json_of(file)}
    status, state = called.pop("stopped")
    assert (status, state) in {(202, "STOPPING"), (200, "STOPPED")}
    assert api.end(called.pop("run_id"))["state"] == "STOPPED"
    assert called == {
        "listed": True,
        "quoted": REGION,
        "absent": "urn:plimsoll:problem:not-found",
    }


def json_of(file: Path) -> dict[str, Any]:
    """Read a request's file as it is."""
    values: dict[str, Any] = yaml.safe_load(file.read_text())
    return values


def test_openapi_typescript_writes_every_operation_and_its_types_take_every_example(
    tmp_path: Path,
) -> None:
    told = ran(
        [PROGRAMS / "openapi-typescript", DOCUMENT, "-o", tmp_path / "api.d.ts", OPTIONAL],
        tmp_path,
    )
    assert "warn" not in told.lower()
    types = (tmp_path / "api.d.ts").read_text().partition("export interface operations {\n")[2]
    assert set(re.findall(r"^    (\w+): \{$", types, re.MULTILINE)) == operations()
    lines = ['import type { operations } from "./api";']
    for name, body in requests().items():
        kind = f'operations["{name}"]["requestBody"]["content"]["application/json"]'
        wrong = {**body, "nmae": "x"}
        lines += [f"export const {name}: {kind} = {json.dumps(body)};", "// @ts-expect-error"]
        lines += [f"export const {name}_wrong: {kind} = {json.dumps(wrong)};"]
    for key, answer in answers().items():
        name, _, status = key.partition(" ")
        status = status or next(s for s in statuses(name) if s < "300")
        kind = f'operations["{name}"]["responses"][{status}]["content"]["application/json"]'
        lines.append(f"export const answer_{key.replace(' ', '_')}: {kind} = {json.dumps(answer)};")
    (tmp_path / "examples.ts").write_text("\n".join(lines))
    ran([PROGRAMS / "tsc", "--strict", "--noEmit", "examples.ts"], tmp_path)


def statuses(name: str) -> list[str]:
    """List the statuses that an operation may answer with."""
    paths = json.loads(DOCUMENT.read_text())["paths"].values()
    every = [operation for path in paths for operation in path.values()]
    [found] = [operation for operation in every if operation["operationId"] == name]
    return list(found["responses"])
