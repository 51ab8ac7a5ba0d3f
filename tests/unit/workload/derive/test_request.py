"""A request for a derived workload runs as it is written."""

import re
from datetime import date
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from plimsoll.cli.workload import make_request
from plimsoll.errors import UsageError
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.run.statements_seen import StatementsSeen
from plimsoll.requests.experiment_file import read_file
from plimsoll.workload.derive.derived import derive
from plimsoll.workload.derive.document import dump_document
from plimsoll.workload.derive.request import write_request
from tests.support.guides import DOCS
from tests.unit.workload.derive.digests import YCSB_B

TODAY = date(2026, 11, 27)


def version(seen: StatementsSeen) -> tuple[str, str]:
    made, _ = write_request(seen, "w.yaml", name="w", records=9, limits_us={}, today=TODAY)
    return made["target"]["engine"], made["target"]["engine_version"]


@pytest.mark.parametrize(
    ("server", "engine", "major"),
    [
        ("11.4.5-MariaDB-log", "mariadb", "11.4"),
        ("10.5.29-MariaDB", "mariadb", "10.11"),
        ("12.1.2-MariaDB", "mariadb", "11.8"),
        ("8.0.40", "mysql", "8.4"),
        ("8.4.3-3 Percona", "mysql", "8.4"),
    ],
)
def test_the_target_is_of_the_servers_engine_and_of_a_version_that_rds_supports(
    server: str, engine: str, major: str
) -> None:
    assert version(YCSB_B.model_copy(update={"server": server})) == (engine, major)


def test_a_postgresql_is_told_by_its_protocol() -> None:
    changed = {"server": "PostgreSQL 13.23 (Debian)", "protocol": "postgres"}
    assert version(YCSB_B.model_copy(update=changed)) == ("postgres", "16")


def test_the_volume_holds_twice_the_tables() -> None:
    tables = [table.model_copy(update={"pages": 2**23}) for table in YCSB_B.tables[:1]]
    large = YCSB_B.model_copy(update={"tables": tuple(tables)})
    made, _ = write_request(large, "w.yaml", name="w", records=9, limits_us={}, today=TODAY)
    assert made["target"]["volume"] == {"type": "gp3", "size_gib": 256}


def test_the_request_is_read_with_its_workload(tmp_path: Path) -> None:
    derived = derive(YCSB_B, name="shop", writes=True)
    out, request = tmp_path / "ours" / "shop.yaml", tmp_path / "My shop.yaml"
    out.parent.mkdir()
    out.write_text(dump_document(derived.document))
    text, notes = make_request(derived, YCSB_B, out, request, ("20ms",))
    request.write_text(text)
    read = read_file(request)
    assert isinstance(read, dict)
    (checked,) = read.values()
    assert checked.request.name == "my-shop"
    assert isinstance(checked.request.target, RdsTarget)
    assert checked.request.target.engine_version == "11.4"
    assert checked.request.workload.definition is not None
    assert checked.request.workload.definition["name"] == "shop"
    limits = checked.request.limits
    assert (limits.statistic, set(limits.limits_us.values())) == ("p99", {20_000.0})
    assert set(limits.limits_us) == {one.name for one in derived.operations}
    assert "the target is a guess" in notes[0]


@pytest.mark.parametrize("guide", ["buying-iops", "production-to-purchase"])
def test_the_guides_say_its_time_as_validate_does(
    guide: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    derived = derive(YCSB_B, name="shop", writes=True)
    (tmp_path / "shop.yaml").write_text(dump_document(derived.document))
    request = tmp_path / "shop-run.yaml"
    request.write_text(make_request(derived, YCSB_B, tmp_path / "shop.yaml", request, ("20ms",))[0])
    with pytest.raises(SystemExit):
        main(["validate", str(request)])
    (said,) = re.findall(r"(\d+ min \d+ s of load)", capsys.readouterr().out)
    assert said in " ".join((DOCS / f"{guide}.md").read_text().split())


def test_a_workload_outside_of_the_requests_folder_is_refused(tmp_path: Path) -> None:
    derived = derive(YCSB_B, writes=True)
    with pytest.raises(UsageError, match="has to lie in the folder of"):
        make_request(derived, YCSB_B, tmp_path / "w.yaml", tmp_path / "below" / "r.yaml", ())
