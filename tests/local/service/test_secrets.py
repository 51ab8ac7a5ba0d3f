"""No secret is anywhere but where secrets are kept: canaries are planted, and looked for."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from plimsoll.client.address import read_address
from plimsoll.client.http import Http
from plimsoll.databases.load_user import derive_load_password
from plimsoll.local.deploying import PRINCIPAL
from plimsoll.local.serving import list_records
from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.functions import Setting
from tests.local.service.conftest import HEADER, Caller, body
from tests.local.workflow.conftest import wait_until


@pytest.fixture(scope="module")
def places(api: Caller, twin_of_service: LocalTwin) -> tuple[dict[str, str], tuple[str, str]]:
    """Everything that a stopped run has left to read, by place; and its target's passwords."""
    run_id = api.start(body("canary", load__duration_s=120))
    api.until(run_id, lambda run: run["phase"] == "step")
    wait_until(lambda: "load-client" in _functions(twin_of_service), "the load")
    [record] = [one for one in list_records(twin_of_service) if one.run_id == run_id]
    assert record.target is not None
    secrets = twin_of_service.client("secretsmanager")
    secret = secrets.get_secret_value(SecretId=record.target.secret_arn)["SecretString"]
    told = {f"GET {path}": api("GET", path) for path in (f"/runs/{run_id}", "/runs")}
    told["DELETE"] = api("DELETE", f"/runs/{run_id}")
    api.end(run_id)
    for path in ("", "/steps", "/report"):
        told[f"GET {path}, ended"] = api("GET", f"/runs/{run_id}{path}")
    found = {place: repr(answer) for place, answer in told.items()}
    master = json.loads(secret)["password"]
    passwords = (master, derive_load_password(master, run_id))
    return {**found, **_kept(twin_of_service, run_id)}, passwords


def _functions(twin: LocalTwin) -> set[str]:
    """Name the functions that are running."""
    return {one["function"] for one in twin.invocations()}


def _kept(twin: LocalTwin, run_id: str) -> dict[str, str]:
    s3, bucket = twin.client("s3"), twin.settings[Setting.RESULTS_BUCKET]
    keys = [
        one["Key"]
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        for one in page.get("Contents", [])
        if run_id in one["Key"]
    ]
    kept = {key: s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode() for key in keys}
    logs = [*(twin.directory / "logs").iterdir()]
    # that of a process which has just been made is empty at first
    wait_until(lambda: all(log.stat().st_size for log in logs), "a line in each log")
    logs.append(twin.directory / "aws.log")
    kept |= {path.name: path.read_text(errors="replace") for path in logs}
    kept["record"] = repr([one for one in list_records(twin) if one.run_id == run_id])
    arn = twin.state_machine_arn("run").replace(":stateMachine:", ":execution:")
    history = twin.client("stepfunctions").get_execution_history(executionArn=f"{arn}:{run_id}")
    kept["history"] = json.dumps(history, default=str)
    return kept


Places = tuple[dict[str, str], tuple[str, str]]


def test_what_is_looked_through_is_not_nothing(places: Places) -> None:
    found, passwords = places
    assert min(map(len, passwords)) >= 16
    assert {"aws.log", "api.log", "load-client.log", "history", "record"} <= found.keys()
    assert any(key.endswith("/result.json") for key in found)
    assert all(text for place, text in found.items() if place != "aws.log")


def test_a_targets_password_is_in_no_answer_log_payload_or_result(places: Places) -> None:
    found, passwords = places
    for password in passwords:
        assert [place for place, text in found.items() if password in text] == []


def test_what_a_caller_signs_with_is_in_no_answer_and_no_log(
    api: Caller, twin_of_service: LocalTwin
) -> None:
    canary = f"canary-{uuid4().hex}"
    headers = {HEADER: PRINCIPAL, "Authorization": canary, "X-Amz-Security-Token": canary}
    http = Http(read_address(api.url, source="serve"), headers=headers)
    answers: list[Any] = [http.ask("GET", "/runs"), http.ask("GET", "/workloads")]
    for path, sent in (("/runs", {"name": 1}), ("/runs", [canary[:3]])):
        request = http._request("POST", path, None, sent, None)
        answers.append(http._send(http._sign(request)).content)
    logs: list[Path] = [*(twin_of_service.directory / "logs").iterdir()]
    assert canary not in repr(answers)
    assert [path.name for path in logs if canary in path.read_text(errors="replace")] == []
