"""Every command of a tutorial or a how-to is run, in its page's order, on servers of this machine.

Pages whose commands call the service are in tests/local/service/test_guides.py. What takes minutes
is made to take seconds (`Scene.play`): that each command does its work is tested, not how long it
takes.
"""

import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

import plimsoll as package
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.postgres import session
from plimsoll.load_line.outcome import write_result
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.request.load_request import WorkloadChoice
from plimsoll.model.request.request import Request
from tests.local.sizing.conftest import COUNTING, under_load
from tests.support.command import Output
from tests.support.guides import (
    DOCS,
    HERE,
    OUTPUTS,
    QUICK,
    ROOT,
    Scene,
    blocks,
    commands,
    files,
    require_answer,
    shrunk,
    with_clients,
)
from tests.support.synthetic_run import synthetic_run
from tests.unit.workload.logs.samples import MARIADB_HEAD, slow

OBSERVED = "plimsoll-results/find-20261123-101500"
Place = Callable[[], str]  # makes an empty database, and gives its DSN


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Make databases on a MariaDB that counts its statements, which starts when it is needed."""
    started: list[MariaDbServer] = []

    def make() -> str:
        if not started:
            directory = tmp_path_factory.mktemp("guides") / "mariadb"
            started.append(MariaDbServer.start(directory=directory, settings=COUNTING).__enter__())
        name = f"guide_{uuid.uuid4().hex[:12]}"
        with closing(connect(parse_dsn(started[0].dsn))) as connection:
            execute(connection, f"CREATE DATABASE `{name}`")
        return f"{started[0].dsn.rpartition('/')[0]}/{name}"

    yield make
    for server in started:
        server.__exit__(None, None, None)


@pytest.fixture
def fresh_postgres(postgres: PostgresServer) -> Place:
    """Make databases with pg_stat_statements on the shared PostgreSQL."""

    def make() -> str:
        name = f"guide_{uuid.uuid4().hex[:12]}"
        dsn = f"{postgres.dsn.rpartition('/')[0]}/{name}"
        with closing(session.connect(parse_dsn(postgres.dsn))) as root:
            session.execute(root, f"CREATE DATABASE {name}")
        with closing(session.connect(parse_dsn(dsn))) as root:
            session.execute(root, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        return dsn

    return make


class Stage:
    """Lays out what a guide's reader has before its first command, in the working directory."""

    def __init__(self, counting: Place, postgres: Place) -> None:
        self.mysql, self.postgres = counting, postgres
        self.scene = Scene()
        self.load: AbstractContextManager[Any] = nullcontext()

    def results(self, *names: str) -> None:
        for name in names:
            write_result(Path("plimsoll-results", name), *synthetic_run())

    def mysql_databases(self, *names: str) -> None:
        self.scene.databases.update({name: self.mysql() for name in names})

    def capacity(self) -> None:
        self.results("ID")
        steps = ["clients,throughput_ops_per_second,latency_us.update"]
        steps += ["1,900,1500", "2,1700,2000", "4,2900,4000", "8,3000,9000"]
        Path("steps.csv").write_text("\n".join(steps))
        for clients in (1, 2, 4):
            Path(f"pgbench-{clients}.txt").write_text(with_clients(clients))
        for rate in (2000, 4000):
            shutil.copy(OUTPUTS / "wrk2.txt", f"wrk2-{rate}.txt")

    def reading_a_report(self) -> None:
        self.results("ID", "A", "B")

    def finding(self) -> None:
        self.mysql_databases("db.example:3306/scratch", "replica/shop")
        Path("orders.yaml").write_text(blocks(DOCS / "finding.md", "yaml")[0])
        package.prepare(self.scene.databases["replica/shop"], workload="orders.yaml", records=300)

    def derive(self) -> None:
        self.mysql_databases("replica/shop", "scratch/trial")
        self.load = self.production()
        self.derive_files()

    def derive_files(self, place: str = "replica/shop") -> None:
        """Write the log and the dump of the production database."""
        read = "SELECT * FROM usertable WHERE ycsb_key = 'user{}'"
        log = MARIADB_HEAD + slow(8, *(read.format(n) for n in range(40)))
        production = self.scene.databases[place].rpartition("/")[2]
        Path("slow.log").write_text(log.replace("Schema: shop", f"Schema: {production}"))
        with closing(connect(parse_dsn(self.scene.databases[place]))) as connection:
            ((_, made),) = execute(connection, "SHOW CREATE TABLE usertable")
        Path("dump.sql").write_text(f"{made};\n")

    def observing(self) -> None:
        self.mysql_databases("replica/shop")
        self.load = self.production()
        write_result(Path(OBSERVED), *synthetic_run())

    def production(self, place: str = "replica/shop") -> AbstractContextManager[Any]:
        production = self.scene.databases[place]
        package.prepare(production, workload="ycsb-b", records=300)
        return under_load(production, "ycsb-b", connections=1)

    def versus(self) -> None:
        self.mysql_databases("old.example/scratch", "new.example/scratch")

    def gate(self) -> None:
        Path("ci").mkdir()
        Path("migrations").mkdir()
        Path("ci/shop.yaml").write_text(blocks(DOCS / "finding.md", "yaml")[0])
        Path("migrations/next.sql").write_text("CREATE INDEX more ON orders (paid);\n")

    def sizing(self) -> None:
        result, seconds = synthetic_run()
        small = Request.model_validate(shrunk(result.request.model_dump(mode="json")))
        write_result(
            Path("plimsoll-results/ID"), result.model_copy(update={"request": small}), seconds
        )
        Path("scenarios").mkdir()
        shutil.copy(ROOT / "scenarios/size-demo.yaml", "scenarios")

    def ci(self) -> None:
        self.capacity()
        Path("pgbench-8.txt").write_text(with_clients(8))
        self.mysql_databases("db.example/scratch")
        package.prepare(self.scene.databases["db.example/scratch"], workload="ycsb-b", records=300)
        write_result(Path("ci"), *synthetic_run())
        Path("ci/result.json").rename("ci/baseline.json")

    def experiments(self) -> None:
        Path("small.yaml").write_text(blocks(DOCS / "experiments.md", "yaml")[0])
        shutil.copytree(ROOT / "reference", "reference")
        write_result(Path("r1-results/1000"), *synthetic_run(run_id="slow"))
        fast = synthetic_run(knee=6.3, iops=2000, run_id="fast", seed=6)
        write_result(Path("r1-results/2000"), *fast)

    def buying_iops(self) -> None:
        Path("iops.yaml").write_text(files(DOCS / "buying-iops.md")["iops.yaml"])
        self.mysql_databases("prod/shop")
        self.load = self.production("prod/shop")
        self.derive_files("prod/shop")

    def first_load_line(self) -> None:
        """It needs nothing but its database."""

    def scripts(self) -> None:
        page = DOCS / "scripts.md"
        names = re.findall(r"as `(\w+\.sql)`", page.read_text())
        for name, text in zip(names, blocks(page, "sql"), strict=True):
            Path(name).write_text(text)
        for name, text in files(page).items():
            Path(name).write_text(text)

    def production_to_purchase(self) -> None:
        production = self.postgres()
        package.prepare(production, workload="ycsb-b", records=300)
        self.scene.variable = production
        self.load = under_load(production, "ycsb-b", connections=1)


def derived_run(workload: Path) -> None:
    """Make the observed page's run one of the workload that was derived from its database."""
    result, seconds = synthetic_run()
    choice = WorkloadChoice(definition=yaml.safe_load(workload.read_text()), records=300)
    request = result.request.model_copy(update={"workload": choice})
    shutil.rmtree(OBSERVED)
    write_result(Path(OBSERVED), result.model_copy(update={"request": request}), seconds)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands write into the working directory."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "guide",
    [
        pytest.param(guide, marks=() if guide in QUICK else pytest.mark.whole)
        for guide in sorted(HERE)
    ],
)
def test_each_command_of_a_guide_is_carried_out(
    guide: str,
    plimsoll: Callable[..., Output],
    counting: Place,
    fresh_postgres: Place,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage(counting, fresh_postgres)
    getattr(stage, guide.replace("-", "_"))()
    if "export PLIMSOLL_DSN" in (DOCS / f"{guide}.md").read_text():
        monkeypatch.setenv("PLIMSOLL_DSN", stage.scene.variable or fresh_postgres())
    lines = commands(DOCS / f"{guide}.md", here=True)
    assert lines
    with stage.load:
        if guide == "observing":
            dsn = stage.scene.databases["replica/shop"]
            found = plimsoll(
                "workload", "derive", dsn, "--for", "2s", "--writes", "--out", "shop.yaml"
            )
            assert found[0] == 0, found
            derived_run(Path("shop.yaml"))
        for line in lines:
            require_answer(line, plimsoll(*stage.scene.play(line)))
