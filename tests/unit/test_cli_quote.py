"""`plimsoll quote`, as a user calls it."""

import json
import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from plimsoll.cli import quote
from plimsoll.errors import UsageError
from tests.support.requested import REQUESTED

MYSQL = {"engine": "mysql", "engine_version": "8.4"}
VOLUME = {"type": "io1", "size_gib": 100, "iops": 3000}
REQUEST = {**REQUESTED, "target": {**REQUESTED["target"], **MYSQL, "volume": VOLUME}}


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    path = tmp_path / "request.yaml"
    path.write_text(yaml.safe_dump(REQUEST))
    return path


def test_time_and_money_are_told_item_by_item_with_their_dates(request_file: Path) -> None:
    result = CliRunner().invoke(quote.command, [str(request_file)], standalone_mode=False)
    assert result.return_value == 0
    assert "$0.171/hour (2026-09-24, second-hand)" in result.output
    assert "RDS creates an instance in 10 minutes" in result.output
    sums = [line for line in result.output.splitlines() if line.startswith("in all")]
    assert len(sums) == 2
    assert sums[1].count("$") == 3


def test_json_has_the_same_for_each_run(request_file: Path) -> None:
    result = CliRunner().invoke(quote.command, [str(request_file), "--json"])
    (found,) = json.loads(result.output)["quotes"].values()
    assert found["target_usd_per_hour"] == pytest.approx(0.171 + (12.5 + 300 + 0.4) / 730)
    assert found["usd"]["least"] < found["usd"]["expected"] < found["usd"]["most"]


def test_prices_of_another_region_are_read_from_a_file(request_file: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(
        '{"region": "eu-west-1", "as_of": "2026-11-01", "usd": {"rds-iops": {"io1": 0.11}}}'
    )
    result = CliRunner().invoke(
        quote.command, [str(request_file), "--prices", str(prices)], standalone_mode=False
    )
    assert result.return_value == 1
    assert "No sum: no price is known for rds-mysql db.m5.large, rds-storage io1" in result.output
    assert "$0.11/IOPS-month (2026-11-01)" in result.output


def test_a_file_that_holds_no_prices_is_refused_by_its_field(
    request_file: Path, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text('{"usd": {"rds-iops": {"io1": -1}}, "as_of": "2026-11-01"}')
    result = CliRunner().invoke(quote.command, [str(request_file), "--prices", str(prices)])
    assert isinstance(result.exception, UsageError)
    assert "usd.rds-iops.io1" in str(result.exception)


@pytest.fixture
def matrix_file(tmp_path: Path) -> Path:
    shared = {name: value for name, value in REQUEST.items() if name != "name"}
    volumes = {f"iops-{n}": {"target": {"volume": {"iops": n}}} for n in (1000, 3000)}
    path = tmp_path / "matrix.yaml"
    written = {"name": "matrix", "request": shared, "axes": {"storage": volumes}, "at_once": 2}
    path.write_text(yaml.safe_dump(written))
    return path


def test_an_experiment_is_told_run_by_run_and_item_by_item(matrix_file: Path) -> None:
    result = CliRunner().invoke(quote.command, [str(matrix_file)], standalone_mode=False)
    assert result.return_value == 0
    lines = result.output.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["iops-1000", "iops-3000"]
    assert "2 runs in 1 batch, 2 at once" in result.output
    assert any(line.startswith("db.m5.large (MySQL), single-AZ, 2 runs") for line in lines)
    assert any(line.startswith("1,000 IOPS  ") for line in lines)  # of one run alone
    of_runs, of_items = (line for line in lines if line.startswith("in all"))
    sums = re.findall(r"\$[\d.]+", of_items)
    assert len(sums) == 3
    assert re.findall(r"\$[\d.]+", of_runs) == sums


def test_an_experiments_json_has_its_runs_and_their_sum(matrix_file: Path) -> None:
    result = CliRunner().invoke(quote.command, [str(matrix_file), "--json"])
    found = json.loads(result.output)["experiment"]
    parts = [cell["quote"]["usd"]["most"] for cell in found["cells"]]
    assert found["usd"]["most"] == pytest.approx(sum(parts))
