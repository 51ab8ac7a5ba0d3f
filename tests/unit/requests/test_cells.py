"""An experiment's cells: every combination once, each a whole request, each fault at its place."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.model.request.boundary import apply_patch, list_patched_paths
from plimsoll.model.request.experiment import Experiment, shuffle_cells, split_batches
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.requests.cells import CheckedExperiment, expand_cells, validate_experiment
from plimsoll.requests.experiment_file import read_file

GOOD = """\
name: matrix
at_once: 2
batch_size: 3
seed: 7
request:
  target:
    kind: rds
    engine: mariadb
    engine_version: "11.4.5"
    instance_class: db.m5.large
    volume: {type: io1, size_gib: 100}
  workload:
    records: 1000
  search:
    strategy: steps
    clients: [1]
axes:
  storage:
    slow: {target: {volume: {iops: 1000}}}
    fast:
      target:
        volume: {iops: 2000}
  mix:
    reads: {workload: {name: ycsb-c}}
    both: {workload: {name: ycsb-a}, limits: {limits_us: {update: 5000}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where experiments may be written, so that errors name no more than the file."""
    monkeypatch.chdir(tmp_path)


def read(text: str) -> CheckedExperiment:
    path = Path("e.yaml")
    path.write_text(text)
    asked = read_file(path)
    assert isinstance(asked, CheckedExperiment)
    return asked


def complaints(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        read(text)
    return str(caught.value).splitlines()


@pytest.mark.usefixtures("folder")
def test_every_combination_is_a_run_with_what_its_variants_set() -> None:
    cells = read(GOOD).cells
    asked = []
    for cell in cells:
        assert isinstance(cell.request.target, RdsTarget)
        iops = cell.request.target.volume.iops
        asked.append((cell.name, iops, cell.request.workload.name, cell.request.limits.limits_us))
    assert asked == [
        ("slow-reads", 1000, "ycsb-c", {}),
        ("slow-both", 1000, "ycsb-a", {"update": 5000}),
        ("fast-reads", 2000, "ycsb-c", {}),
        ("fast-both", 2000, "ycsb-a", {"update": 5000}),
    ]
    assert [cell.index for cell in cells] == [0, 1, 2, 3]
    assert cells[1].variants == {"storage": "slow", "mix": "both"}
    assert cells[1].request.tags == {"experiment": "matrix", "storage": "slow", "mix": "both"}
    assert cells[1].request.name == "slow-both"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("iops: 2000", "iops: 9",
         "e.yaml:22: axes.storage.fast.target.volume.iops: 9 is not allowed for io1 of 100 GiB"),
        ("records: 1000", "records: none",
         "e.yaml:13: request.workload.records: input should be a valid integer"),
        ("    records: 1000", "    rows: 3\n    records: 1000",
         "e.yaml:13: request.workload.rows: unknown field 'rows' (allowed: definition, name, par"),
        ("update: 5000", "scan: 5000",
         "e.yaml:25: axes.mix.both.limits.limits_us.scan: unknown operation 'scan'"),
        ("name: ycsb-c", "name: ycsb-q", "e.yaml:24: axes.mix.reads.workload.name: unknown work"),
        ("  workload:\n    records: 1000\n", "",
         "e.yaml:22: axes.mix.reads.workload: lacks the field 'records'"),
        ("at_once: 2", "at_once: 41", "e.yaml:2: at_once: input should be less than or equal"),
        ("seed: 7", "sead: 7", "e.yaml:4: sead: unknown field 'sead'; did you mean 'seed'?"),
        ("request:", "request:\n  name: mine",
         "e.yaml:6: request.name: a run of an experiment gets its own"),
        ("request:", "request:\n  expect: [capacity >= 1]",
         "e.yaml:6: request.expect: rules apply to a single run; an experiment answers"),
        ("iops: 2000", "iops: 1000",
         "e.yaml:17: axes: the runs slow-reads and fast-reads would be the same"),
        ("    reads: {", "    reads: {target: {volume: {iops: 1}}, ",
         "e.yaml:23: axes.mix: it changes target.volume.iops, which the axis storage changes too"),
        ("    slow:", "    s---w:", "e.yaml:19: axes.storage.s---w"),
        ("    fast:", f"    {'f' * 39}:",
         f"e.yaml:17: axes: the variants' names make the run '{'f' * 39}-reads': string should"),
        ("  mix:", "  mix: {}\n  other:", "e.yaml:23: axes.mix: needs at least 1 entry"),
        ("  mix:", "  storage:", "e.yaml:23: axes.storage: is given twice"),
    ],
)  # fmt: skip
def test_an_error_names_the_place_where_it_was_written(old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    lines = complaints(GOOD.replace(old, new, 1))
    assert lines[0].startswith(complaint)


@pytest.mark.usefixtures("folder")
def test_a_fault_in_a_variant_is_told_once_however_many_runs_have_it() -> None:
    assert (
        len(complaints(GOOD.replace("iops: 1000", "iops: 9").replace("iops: 2000", "iops: 8"))) == 2
    )


def test_too_many_runs_are_refused_by_their_number() -> None:
    value = yaml.safe_load(GOOD)
    value["axes"]["mix"] = {f"m{i}": {"load": {"seed": i}} for i in range(50)}
    value["axes"]["more"] = {f"n{i}": {"time_limit_s": 100 + i} for i in range(3)}
    with pytest.raises(UsageError, match="2 x 50 x 3 = 300 runs are more than 200"):
        validate_experiment(value)


NAMES = st.from_regex(r"[a-z]{1,5}", fullmatch=True)
VALUES = st.recursive(
    st.integers(), lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=3), max_leaves=6
)
PATCHES = st.dictionaries(NAMES, VALUES, max_size=3)


@given(base=PATCHES, change=PATCHES)
def test_what_a_patch_sets_is_set_and_what_it_does_not_name_stays(
    base: dict[str, Any], change: dict[str, Any]
) -> None:
    result = apply_patch(base, change)
    assert all(_at(result, leaf) == _at(change, leaf) for leaf in list_patched_paths(change))
    touched = list_patched_paths(change)
    for leaf in list_patched_paths(base):
        if not any(leaf[: len(t)] == t or t[: len(leaf)] == leaf for t in touched):
            assert _at(result, leaf) == _at(base, leaf)
    assert apply_patch(result, change) == result


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


@given(count=st.integers(1, 200), seed=st.integers(0, 2**53 - 1), size=st.integers(1, 250))
def test_the_order_holds_every_cell_once_and_batches_keep_it(
    count: int, seed: int, size: int
) -> None:
    drawn = shuffle_cells(count, seed)
    assert sorted(drawn) == list(range(count))
    assert drawn == shuffle_cells(count, seed)
    cut = split_batches(drawn, size)
    assert [cell for batch in cut for cell in batch] == list(drawn)
    assert all(len(batch) <= size for batch in cut)
    assert split_batches(drawn, None) == [list(drawn)]


def test_seeds_give_different_orders_and_every_place_to_every_cell() -> None:
    """Over many seeds each cell comes first about as often as any other: chi-squared, 5 cells."""
    firsts = [shuffle_cells(5, seed)[0] for seed in range(2000)]
    counts = [firsts.count(cell) for cell in range(5)]
    assert sum((n - 400) ** 2 / 400 for n in counts) < 18.5  # p = 0.001 at 4 degrees of freedom


@settings(max_examples=25)
@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_cells_are_the_product_of_the_axes(sizes: list[int]) -> None:
    value = yaml.safe_load(GOOD)
    value["request"]["workload"]["name"] = "ycsb-c"
    value["request"]["target"]["volume"]["iops"] = 1000
    fields = [("load", "seed"), ("prepare", "clients"), ("load", "recovery_max_s")]
    value["axes"] = {
        f"axis{a}": {f"v{v}": {field: {inner: v + 1}} for v in range(size)}
        for a, (size, (field, inner)) in enumerate(zip(sizes, fields, strict=False))
    }
    cells = expand_cells(Experiment.model_validate(value))
    wanted = product(*([f"v{v}" for v in range(size)] for size in sizes))
    assert [tuple(cell.variants.values()) for cell in cells] == list(wanted)
    for cell in cells:
        assert isinstance(cell.request, Request)
        for (field, inner), variant in zip(fields, cell.variants.values(), strict=False):
            assert getattr(getattr(cell.request, field), inner) == int(variant[1:]) + 1
