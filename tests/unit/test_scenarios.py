"""The reference experiments as requests: each can be asked for, whole, volume rules included."""

import re
from pathlib import Path

import pytest

from plimsoll.databases.conditions import is_audited
from plimsoll.model.request.search_request import StepsSearch
from plimsoll.quoting.experiment_quotes import quote_experiment
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.quoting.quotes import estimate_quote, find_target_usd_per_hour
from plimsoll.report.experiment.summary import divide_axes
from plimsoll.requests.cells import CheckedExperiment
from plimsoll.requests.experiment_file import read_file
from plimsoll.sizing.cheapest import require_searchable

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("r*.yaml"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: str(path.name))
def test_a_scenario_can_be_asked_for(path: Path) -> None:
    asked = read_file(path)
    cells = asked.cells if isinstance(asked, CheckedExperiment) else tuple(asked)
    assert len(cells) >= 2
    head, *_ = path.read_text().partition("\nname:")
    assert re.search(r"\b[Rr]eference experiment R\d", head.replace("\n# ", " "))


@pytest.mark.parametrize(
    ("name", "targets", "questions", "cells"),
    [
        ("r1", ("storage",), (), 2),
        ("r1-part-one", ("instance", "storage"), ("workload",), 48),
        ("r2", ("storage",), ("mix", "threads"), 24),
        ("r2-demo", ("storage",), ("mix", "threads"), 12),
        ("r3", ("instance", "storage"), (), 4),
        ("r3-demo", ("instance", "storage"), (), 4),
        ("r4", ("instance",), ("mix",), 6),
        ("r5", ("storage",), (), 3),
    ],
)
def test_its_axes_are_the_studys(
    name: str, targets: tuple[str, ...], questions: tuple[str, ...], cells: int
) -> None:
    asked = read_file(ROOT / f"scenarios/{name}.yaml")
    assert isinstance(asked, CheckedExperiment)
    places = divide_axes(asked.experiment)
    assert (places.target_axes, places.question_axes) == (targets, questions)
    assert len(asked.cells) == cells


@pytest.mark.parametrize(
    "path",
    [path for path in SCENARIOS if not path.stem.endswith(("demo", "essd"))],
    ids=lambda path: str(path.name),
)
def test_a_scenario_of_aws_has_time_for_its_answer(path: Path) -> None:
    """As its own quote reckons; the demos are for one machine."""
    asked = read_file(path)
    assert isinstance(asked, CheckedExperiment)
    found = quote_experiment(asked, read_builtin_prices())
    assert found.usd is not None
    notes = {note for cell in found.cells for note in cell.quote.notes}
    assert [note for note in notes if "it will probably" in note] == []


@pytest.mark.parametrize(
    "path",
    [path for path in SCENARIOS if path.stem != "r4-essd"],  # another cloud's volume
    ids=lambda path: str(path.name),
)
def test_every_cell_has_dollars(path: Path) -> None:
    """Those of its target by the hour, from which a report has dollars per million operations."""
    asked = read_file(path)
    requests = asked.requests if isinstance(asked, CheckedExperiment) else list(asked.values())
    prices = read_builtin_prices()
    unpriced = [
        one.request.name
        for one in requests
        if find_target_usd_per_hour(one.request, prices) is None
    ]
    assert unpriced == []


def test_the_canarys_request_is_one_run_with_time_for_its_answer() -> None:
    asked = read_file(ROOT / "scenarios/canary.yaml")
    assert isinstance(asked, dict)
    (checked,) = asked.values()
    notes = estimate_quote(checked, read_builtin_prices()).notes
    assert [note for note in notes if "it will probably" in note] == []


def test_r1_repeats_the_published_tables() -> None:
    asked = read_file(ROOT / "scenarios/r1.yaml")
    assert isinstance(asked, CheckedExperiment)
    for cell in asked.cells:
        search, limits = cell.request.search, cell.request.limits
        assert isinstance(search, StepsSearch)
        assert {1, 2, 3, 4, 8} <= set(search.clients)
        assert search.connections_per_client == 1
        assert (limits.statistic, limits.deterioration) == ("mean", 3)


def test_the_example_in_the_documentation_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs/experiments.md").read_text()
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "example.yaml").write_text(example)
    asked = read_file(tmp_path / "example.yaml")
    assert isinstance(asked, CheckedExperiment)
    assert len(asked.cells) == 4


def test_the_demo_of_sizing_is_one_run_whose_limits_are_the_question() -> None:
    """`plimsoll size` asks about the limits of the request where none is named."""
    asked = read_file(ROOT / "scenarios/size-demo.yaml")
    assert isinstance(asked, dict)
    limits = next(iter(asked.values())).request.limits
    assert limits.statistic == "p99"
    assert limits.limits_us == {"read": 20_000, "update": 20_000}


def test_the_demo_of_tpcc_asks_two_volumes_and_leaves_its_conditions_checked() -> None:
    asked = read_file(ROOT / "scenarios/tpcc-demo.yaml")
    assert isinstance(asked, dict)
    assert {cell.request.target.volume.iops for cell in asked.values()} == {2000, 4000}  # type: ignore[union-attr]
    assert all(is_audited(cell.workload, cell.request.limits) for cell in asked.values())


def test_the_demo_of_the_boundary_can_be_sought() -> None:
    asked = read_file(ROOT / "scenarios/boundary-demo.yaml")
    assert isinstance(asked, CheckedExperiment)
    require_searchable(asked, read_builtin_prices())
    assert len(asked.cells) == 4
