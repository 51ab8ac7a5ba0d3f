"""`--ui`: a page of one run on this machine, as its user meets it."""

import json
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.local.service.test_live import events
from tests.local.workflow.conftest import ANSWERED, PATIENCE_S
from tests.local.workflow.test_run_verb import left_of, plimsoll, request_file, run_here

OPEN, STAYS = "open ", "the page stays until Ctrl-C"


def line_of(process: "subprocess.Popen[str]", beginning: str) -> str:
    """Read what a command says up to a line; gives the rest of the line."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith(beginning):
            return line.removeprefix(beginning).strip()
    raise AssertionError("".join(said))


def authorized(page: str) -> dict[str, str]:
    token = urlsplit(page).fragment.removeprefix("token=")
    return {"Authorization": f"Bearer {token}"}


def ask(page: str, path: str, method: str = "GET") -> Any:
    url = f"http://{urlsplit(page).netloc}{path}"
    request = Request(url, headers=authorized(page), method=method)
    with urlopen(request, timeout=PATIENCE_S) as answer:
        return json.loads(answer.read())


def run_of(page: str, true: Callable[[Any], bool]) -> Any:
    """Follow the list of a page until one of its runs is as it should be; gives it."""
    stream = events(page, "/events", **authorized(page))
    with closing(stream):
        for _, _, told in stream:
            for run in told["runs"]:
                if true(run):
                    return run
    raise AssertionError("the list has ended")


def test_a_run_is_followed_on_its_page_to_its_end_and_after(tmp_path: Path) -> None:
    out = tmp_path / "out"
    request = request_file(tmp_path, team="web", **ANSWERED)
    process = run_here(tmp_path, request, out, "--ui")
    page = line_of(process, OPEN).removesuffix(" in a browser")
    config = ask(page, "/console/config.json")
    assert (config["may_start"], config["one_run"]) == (False, True)
    run = run_of(page, lambda _: True)
    assert run["team"] == "web"
    path = f"/events?run_id={run['run_id']}"
    told = list(events(page, path, **authorized(page)))
    assert told[-1][2]["run"]["state"] == "SUCCEEDED"
    line_of(process, STAYS)
    assert ask(page, f"/runs/{run['run_id']}/live")["answer"] is not None
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, stderr
    assert run["name"] in stdout  # the result was printed before
    assert (out / "report.html").is_file()
    assert left_of(tmp_path) == []


@pytest.mark.whole  # a search is stopped from its page
def test_a_run_that_is_stopped_from_its_page_ends_as_stopped(tmp_path: Path) -> None:
    request = request_file(tmp_path, load__duration_s=120)
    process = run_here(tmp_path, request, tmp_path / "out", "--ui")
    page = line_of(process, OPEN).removesuffix(" in a browser")
    run = run_of(page, lambda one: one["phase"] == "step")
    ask(page, f"/runs/{run['run_id']}", "DELETE")
    line_of(process, STAYS)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, stderr  # the run has no result
    assert left_of(tmp_path) == []


def test_a_search_is_followed_and_stopped_on_its_page(tmp_path: Path, fresh_database: str) -> None:
    find = ["find", fresh_database, "--prepare", "--records", "200", "--workload", "ycsb-c"]
    find += ["--warm", "0", "--warmup", "0", "--duration", "1", "--max-connections", "2"]
    find += ["--without-audit", "undisturbed"]
    process = plimsoll(tmp_path, *find, "--out", str(tmp_path / "found"), "--ui")
    page = line_of(process, OPEN).removesuffix(" in a browser")
    assert ask(page, "/console/config.json")["run_id"] == "find"
    stream = events(page, "/events?run_id=find", **authorized(page))
    seconds, steps = [], []
    for name, _, told in stream:
        if name == "second":
            seconds.append(told)
        elif name == "live":
            steps += told["steps"]
        if seconds and steps:
            break
    assert seconds[0]["operations"]["read"]["succeeded"] > 0
    ask(page, "/runs/find", "DELETE")
    *_, (_, _, last) = stream
    assert last["run"]["state"] == "STOPPED"
    assert "stopped from its page" in last["run"]["failure"]["cause"]
    line_of(process, STAYS)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert (tmp_path / "found" / "result.json").is_file()
