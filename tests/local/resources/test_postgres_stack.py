"""A target's stack with PostgreSQL: a real server on its volume, and nothing afterwards."""

import json
import socket
import ssl
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pg8000.native
import psutil
import pytest

from tests.local.resources.test_stacks import Stacks, outputs
from tests.support.postgres_connection import Rows, unverified_tls

TEMPLATE = (files("plimsoll.targets") / "templates/rds.template.json").read_text()
POSTGRES = {"Engine": "postgres", "EngineVersion": "18.4", "ParameterGroupFamily": "postgres18"}


def with_parameters(parameters: dict[str, str]) -> str:
    body = json.loads(TEMPLATE)
    body["Resources"]["ParameterGroup"]["Properties"]["Parameters"] = parameters
    return json.dumps(body)


@pytest.fixture(scope="module")
def stacks(twin: Any) -> Stacks:
    return Stacks(twin)


@pytest.fixture(scope="module")
def target(stacks: Stacks) -> Iterator[dict[str, Any]]:
    yield stacks.create("postgres", with_parameters({"work_mem": "4097"}), **POSTGRES)
    stacks.delete("plimsoll-run-postgres")


def asked(
    twin: Any, stack: dict[str, Any], sql: str, tls: ssl.SSLContext | bool | None = None
) -> Rows:
    told = outputs(stack)
    secret = twin.client("secretsmanager").get_secret_value(SecretId=told["SecretArn"])
    account = json.loads(secret["SecretString"])
    connection = pg8000.native.Connection(
        account["username"],
        host=told["Endpoint"],
        port=int(told["Port"]),
        database="plimsoll",
        password=account["password"],
        ssl_context=unverified_tls() if tls is None else tls,
    )
    try:
        rows: Rows = connection.run(sql)
        return rows
    finally:
        connection.close()


def test_class_version_and_parameters_reach_the_server(twin: Any, target: dict[str, Any]) -> None:
    names = ("server_version_num", "shared_buffers", "max_connections", "work_mem", "io_method")
    rows = asked(twin, target, "SELECT " + ", ".join(f"current_setting('{n}')" for n in names))
    assert rows == [["180006", "16MB", "901", "4097kB", "worker"]]


def test_the_master_user_has_the_rights_of_rds_and_no_more(
    twin: Any, target: dict[str, Any]
) -> None:
    assert asked(twin, target, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == [
        [False]
    ]
    asked(twin, target, "SELECT pg_stat_statements_reset()")
    asked(twin, target, "CHECKPOINT")
    asked(twin, target, "CREATE TABLE mine (a INT)")
    assert asked(twin, target, "SELECT count(*) > 0 FROM pg_stat_statements") == [[True]]
    with pytest.raises(pg8000.native.DatabaseError, match="permission denied"):
        asked(twin, target, "SELECT pg_read_file('postgresql.conf')")


def test_its_certificate_is_vouched_for_by_the_twins_authority(
    twin: Any, target: dict[str, Any]
) -> None:
    verified = ssl.create_default_context(cafile=str(twin.directory / "rds-ca.pem"))
    assert asked(twin, target, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", verified)


def test_a_login_without_tls_is_refused_as_on_rds(twin: Any, target: dict[str, Any]) -> None:
    with pytest.raises(pg8000.native.DatabaseError, match=r"no pg_hba.conf entry.*no encryption"):
        asked(twin, target, "SELECT 1", tls=False)


def test_its_data_are_on_the_volume_with_the_classs_page_cache(
    twin: Any, target: dict[str, Any]
) -> None:
    with twin.databases["plimsoll-postgres"].volume as volume:
        assert volume.limits.baseline_iops == 1000
        assert volume.service == "rds-postgres"
        assert volume.settings.page_cache_mib == 32  # of 64: half
        before = volume.sample()
        asked(twin, target, "CREATE TABLE t AS SELECT generate_series(1, 10)")
        after = volume.sample()
        assert after.write_ios > before.write_ios
        assert not after.unwatched


def test_without_force_ssl_a_login_may_be_plain(twin: Any, stacks: Stacks) -> None:
    """PostgreSQL 17, deleted in the end with all that it was."""
    made = stacks.create(
        "plain",
        with_parameters({"rds.force_ssl": "0"}),
        Engine="postgres",
        EngineVersion="17.5",
        ParameterGroupFamily="postgres17",
    )
    rows = asked(twin, made, "SELECT current_setting('server_version_num')", tls=False)
    assert rows == [["170011"]]
    database = twin.databases["plimsoll-plain"]
    processes = [*psutil.Process(database.pid).children(), psutil.Process(database.pid)]
    assert stacks.delete(made["StackId"])["StackStatus"] == "DELETE_COMPLETE"
    assert not any(process.is_running() for process in processes)
    assert not database.directory.exists()
    with socket.socket() as probe:
        assert probe.connect_ex((database.host, database.port)) != 0


def test_io_uring_which_would_pass_the_volume_is_refused(stacks: Stacks) -> None:
    template = with_parameters({"io_method": "io_uring"})
    stack = stacks.create("ring", template, fail="DO_NOTHING", **POSTGRES)
    assert "io_uring" in stacks.reasons(stack["StackId"])[("Instance", "CREATE_FAILED")]
    stacks.delete(stack["StackId"])
