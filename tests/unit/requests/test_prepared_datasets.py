"""Which runs of an experiment share a dataset, and what cannot be prepared for several."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.errors import UsageError
from plimsoll.model.request.experiment import Experiment
from plimsoll.requests.cells import CheckedExperiment, check_experiment
from plimsoll.requests.prepared_datasets import (
    KEEPING_MARGIN_S,
    compute_keeping_s,
    plan_shared_datasets,
)
from tests.support.requested import REQUESTED

SHARED = {name: value for name, value in REQUESTED.items() if name != "name"}
VOLUMES = {
    "slow": {"target": {"volume": {"iops": 1000}}},
    "fast": {"target": {"volume": {"iops": 2000}}},
}
MIXES = {"reads": {"workload": {"name": "ycsb-c"}}, "both": {"workload": {"name": "ycsb-a"}}}


def experiment(**changes: Any) -> CheckedExperiment:
    asked = {"name": "m", "request": SHARED, "axes": {"mix": MIXES}, "dataset": {}}
    return check_experiment(Experiment.model_validate(asked | changes))


def test_the_tables_of_a_background_are_prepared_with_the_others() -> None:
    scan = {"name": "nightly", "workload": {"name": "batch-full-scan", "records": 5000}}
    asked = experiment(request={**SHARED, "background": [scan]})
    (shared,) = plan_shared_datasets(asked, local=False)
    assert [one.dataset for one in shared.checked.datasets] == ["ycsb", "batch"]
    axes = {"beside": {"alone": {"background": []}, "nightly": {"background": [scan]}}}
    apart = plan_shared_datasets(experiment(axes=axes), local=False)
    assert [one.cells for one in apart] == [(0,), (1,)], "only one of both needs its tables"


def test_nothing_is_prepared_for_whom_does_not_ask() -> None:
    assert plan_shared_datasets(experiment(dataset=None), local=True) == ()


def test_workloads_on_the_same_tables_share_one_dataset() -> None:
    (shared,) = plan_shared_datasets(experiment(), local=False)
    assert (shared.name, shared.cells) == ("dataset-1", (0, 1))
    assert shared.request.name == "dataset-1"
    assert shared.request.tags == {"experiment": "m", "dataset": "1"}
    assert shared.run_id("20260101-000000-abcdef") == "20260101-000000-abcdef-d01"


@pytest.mark.parametrize(("local", "datasets"), [(True, [(0, 1)]), (False, [(0,), (1,)])])
def test_a_volume_that_rds_would_have_to_change_has_a_dataset_of_its_own(
    local: bool, datasets: list[tuple[int, ...]]
) -> None:
    found = plan_shared_datasets(experiment(axes={"storage": VOLUMES}), local=local)
    assert [shared.cells for shared in found] == datasets


@pytest.mark.parametrize(
    "variants",
    [
        {"few": {"workload": {"records": 10}}, "many": {"workload": {"records": 20}}},
        {"a": {"load": {"seed": 1}}, "b": {"load": {"seed": 2}}},  # the rows' random parts
        {
            "ycsb": {"workload": {"name": "ycsb-c"}},
            "sysbench": {"workload": {"name": "sysbench-oltp-point-select"}},
        },
        {
            "old": {"target": {"engine_version": "10.11"}},
            "new": {"target": {"engine_version": "11.4"}},
        },
        {
            "packed": {"prepare": {"load_order": "key"}},
            "spread": {"prepare": {"load_order": "number"}},
        },
    ],
)
def test_other_rows_or_another_version_are_another_dataset(variants: dict[str, Any]) -> None:
    found = plan_shared_datasets(experiment(axes={"what": variants}), local=True)
    assert [shared.cells for shared in found] == [(0,), (1,)]


def test_what_prepares_it_may_be_larger_than_what_measures() -> None:
    dataset = {"target": {"instance_class": "db.m5.4xlarge"}, "time_limit_s": 3600}
    (shared,) = plan_shared_datasets(experiment(dataset=dataset), local=False)
    assert shared.request.target.instance_class == "db.m5.4xlarge"  # type: ignore[union-attr]
    assert shared.request.time_limit_s == 3600
    asked = experiment(dataset=dataset).experiment
    assert compute_keeping_s(asked, shared) == 3600 + 2 * 7200 + KEEPING_MARGIN_S


@pytest.mark.parametrize(
    "dataset",
    [
        {"workload": {"records": 5}},
        {"target": {"engine_version": "10.11"}},
        {"prepare": {"load_order": "number"}},
    ],
)
def test_what_prepares_it_may_not_change_what_is_in_it(dataset: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="dataset: it changes the dataset's engine"):
        plan_shared_datasets(experiment(dataset=dataset), local=True)


def test_a_wrong_field_is_named_where_it_was_written() -> None:
    with pytest.raises(UsageError, match=r"dataset\.target\.instance_class"):
        plan_shared_datasets(experiment(dataset={"target": {"instance_class": 5}}), local=True)
    with pytest.raises(
        ValidationError, match=r"dataset\.name: a run of an experiment gets its own"
    ):
        experiment(dataset={"name": "mine"})


ENDPOINT = {"kind": "endpoint", "engine": "mariadb", "host": "db", "port": 3306}
AURORA = {
    "kind": "aurora",
    "engine": "aurora-mysql",
    "engine_version": "8.0",
    "instance_class": "db.r6g.large",
}
CLUSTER = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "gp3", "size_gib": 100},
    "nodes": 3,
}
NVME = {"kind": "cassandra", "instance_type": "i3.large", "volume": {"type": "nvme", "size_gib": 1}}
RING = {
    "kind": "cassandra",
    "instance_type": "m5.large",
    "volume": {"type": "gp3", "size_gib": 100},
    "nodes": 3,
}
OWN = {
    **REQUESTED["target"],
    "snapshot": "arn:aws:rds:eu-west-1:123456789012:snapshot:orders-2026",
}


@pytest.mark.parametrize(
    ("target", "why"),
    [
        (ENDPOINT, "a target of kind endpoint is not restored from a snapshot"),
        (AURORA, "a target of kind aurora is not restored from a snapshot"),
        (CLUSTER, "in a cluster of several nodes each has rows of its own, and a snapshot holds"),
        (NVME, "nvme, the instance's local disks, has no snapshots"),
        (RING, "in a cluster of several nodes each has rows of its own"),
        (OWN, "target.snapshot is a dataset of your own, so none is prepared"),
    ],
)
def test_what_has_no_snapshot_is_refused_in_a_sentence(target: dict[str, Any], why: str) -> None:
    mixes = {"a": {"workload": {"name": "ycsb-c"}}, "b": {"workload": {"name": "ycsb-b"}}}
    shared = {**SHARED, "target": target}
    with pytest.raises(UsageError, match=f"dataset: {why}"):
        plan_shared_datasets(experiment(request=shared, axes={"mix": mixes}), local=True)


def test_no_volume_of_ebs_is_made_smaller_than_the_snapshot_of_another() -> None:
    target = {**RING, "nodes": 1}
    sizes = {
        name: {"target": {"volume": {"size_gib": gib}}} for name, gib in (("l", 200), ("s", 100))
    }
    asked = experiment(request={**SHARED, "target": target}, axes={"size": sizes})
    assert [one.cells for one in plan_shared_datasets(asked, local=False)] == [(0,), (1,)]
    assert [one.cells for one in plan_shared_datasets(asked, local=True)] == [(0, 1)]
