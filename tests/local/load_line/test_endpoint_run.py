"""`plimsoll run` of an existing database, as its user calls it, on a real MariaDB."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plimsoll.databases.mysql.session import connect, execute
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.run.results import RunResult
from tests.local.conftest import MariaDbFactory
from tests.support.command import Output
from tests.support.relay import relay

Run = Callable[..., Output]


@pytest.fixture
def target(fresh_database: str) -> EngineTarget:
    """An empty database."""
    return parse_dsn(fresh_database)


@pytest.fixture
def let_in(target: EngineTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the command the target's user and password."""
    monkeypatch.setenv("PLIMSOLL_USER", target.user)
    monkeypatch.setenv("PLIMSOLL_PASSWORD", target.password)


@pytest.fixture
def run(plimsoll: Run, target: EngineTarget, tmp_path: Path) -> Run:
    """Have a verb take a short run of the target, with what is otherwise in its request."""

    def call(verb: str, *options: str, **otherwise: Any) -> Output:
        place = {"host": target.host, "port": target.port, "database": target.database}
        request = {
            "name": "mine",
            "target": {"kind": "endpoint", "engine": "mariadb", "tls": "off", **place},
            "workload": {"name": "ycsb-c", "records": 200},
            "load": {"warmup_s": 0, "duration_s": 1},
            "prepare": {"warm_s": 0},
            "search": {"strategy": "steps", "clients": [1], "open_loop_probe": False},
            "limits": {"limits_us": {"read": 1_000_000}, "confirmation": None},
            **otherwise,
        }
        (tmp_path / "request.yaml").write_text(json.dumps(request))
        return plimsoll(verb, str(tmp_path / "request.yaml"), "--local", *options)

    return call


def toggle(name: str, port: int) -> dict[str, Any]:
    """Measure the target, and what answers on another port."""
    return {"pairs": 3, "states": [{"name": "direct"}, {"name": name, "endpoint": {"port": port}}]}


def test_it_needs_no_deployment_on_one_machine(
    run: Run, target: EngineTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run("validate")
    assert code == 0, out
    found = ["--out", str(tmp_path / "found")]
    monkeypatch.delenv("PLIMSOLL_USER", raising=False)
    code, _, err = run("run", *found)
    assert code == 2
    assert "Set PLIMSOLL_USER and PLIMSOLL_PASSWORD" in err
    monkeypatch.setenv("PLIMSOLL_USER", target.user)
    monkeypatch.setenv("PLIMSOLL_PASSWORD", target.password)
    _, out, err = run("run", *found)
    assert "MariaDB at 127.0.0.1" in out, err
    result = RunResult.model_validate_json((tmp_path / "found/result.json").read_text())
    assert [step.step.clients for step in result.steps[:1]] == [1]
    assert result.rows == 200


@pytest.mark.whole
@pytest.mark.usefixtures("let_in")
def test_it_is_measured_in_two_ways_in_pairs(
    run: Run, target: EngineTarget, tmp_path: Path
) -> None:
    with relay(target.port) as (port, connected):
        code, _, err = run(
            *["run", "--out", str(tmp_path / "found")],
            toggle=toggle("relayed", port),
            workload={"name": "ycsb-a", "records": 200},
            limits={
                "limits_us": {"read": 1_000_000, "update": 1_000_000},
                "confirmation": None,
                "audits_off": ["steady_state", "undisturbed"],
            },
        )
        assert code in {0, 3}, err
        through = connected()
    result = RunResult.model_validate_json((tmp_path / "found/result.json").read_text())
    found = result.toggle
    assert found is not None
    assert [state.endpoint for state in found.states] == [
        f"127.0.0.1:{target.port}",
        f"127.0.0.1:{port}",
    ]
    assert found.throughput.pairs == 3
    assert found.throughput.ratio is not None
    # a step that an audit disputes is repeated in the same state, and is in no pair
    assert [direct < relayed for direct, relayed in found.steps[:2]] == [True, False]
    relayed = [done.step for done in result.steps if done.plan.state == "relayed"]
    for step in relayed:
        assert step.statements_sent == step.statements_served
    assert through >= len(relayed)
    assert "relayed" in found.detail


@pytest.mark.usefixtures("let_in")
def test_ways_to_other_rows_are_no_two_states(
    run: Run, target: EngineTarget, tmp_path: Path, mariadb_factory: MariaDbFactory
) -> None:
    other = mariadb_factory()
    with closing(connect(parse_dsn(other.dsn))) as connection:  # both let the same user in
        execute(connection, "ALTER USER CURRENT_USER() IDENTIFIED BY %s", (target.password,))
        execute(connection, f"CREATE DATABASE {target.database}")
    found = ["--out", str(tmp_path / "found")]
    code, _, err = run("run", *found, toggle=toggle("there", other.port))
    assert code == 1
    assert f"state there: 127.0.0.1:{other.port} does not have all rows of" in err
