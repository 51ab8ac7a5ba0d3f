"""A Cassandra target's stack: a real node on its emulated volume, and nothing of it afterwards."""

import datetime as dt
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import psutil
import pytest

from plimsoll.aws import clients
from plimsoll.local.twin import LocalTwin
from plimsoll.model.judging.steps import TargetFigures
from plimsoll.model.metric_periods import list_whole_periods
from plimsoll.model.request.cassandra_target import CQL_PORT, VERSION, CassandraTarget
from plimsoll.model.run.run_record import TargetAddress
from plimsoll.targets.cloudwatch_metrics import read_samples, summarize_samples
from plimsoll.targets.template import fill_cassandra_parameters
from plimsoll.volumes.places import state_path
from plimsoll.workflow.target import find_data_volume_id
from tests.local.resources.test_stacks import Stacks, outputs, parameters
from tests.local.workflow.conftest import wait_until
from tests.support.patient_cassandra import patient_session

# a run of one node, with its volume and its figures, is in `make test`
A_NODE = pytest.mark.whole
TEMPLATE = (files("plimsoll.targets") / "templates/cassandra.template.json").read_text()


def create(twin: LocalTwin, run_id: str, target: CassandraTarget) -> dict[str, Any]:
    stacks = Stacks(twin)
    values = {
        "ArchiveUrl": "s3://archives/cassandra.tar.gz",
        "InstanceProfileName": "cassandra",
        "SubnetId": "subnet-0a",
        **fill_cassandra_parameters(target),
    }
    made = stacks.client.create_stack(
        StackName=f"plimsoll-run-{run_id}",
        TemplateBody=TEMPLATE,
        Parameters=parameters(run_id, values),
        OnFailure="DO_NOTHING",
    )
    return stacks.wait(made["StackId"])


def target(instance_type: str, **volume: object) -> CassandraTarget:
    return CassandraTarget.model_validate(
        {"kind": "cassandra", "instance_type": instance_type, "volume": volume}
    )


@pytest.fixture(scope="module")
def stack(twin: LocalTwin) -> Iterator[dict[str, Any]]:
    clients.use_factory(twin.client)
    asked = target("r5.large", type="io1", size_gib=100, iops=700)
    yield create(twin, "cql", asked)
    Stacks(twin).delete("plimsoll-run-cql")


@A_NODE
def test_its_outputs_lead_to_a_real_node_with_an_address_of_its_own(stack: dict[str, Any]) -> None:
    assert stack["StackStatus"] == "CREATE_COMPLETE", stack.get("StackStatusReason")
    told = outputs(stack)
    assert told["Endpoint"].startswith("127.")
    assert told["Endpoint"] != "127.0.0.1"
    assert int(told["Port"]) == CQL_PORT
    assert "SecretArn" not in told
    with patient_session(told["Endpoint"], CQL_PORT) as session:
        row = session.execute("SELECT release_version FROM system.local").one()
    assert row == (VERSION,)


@A_NODE
def test_its_volume_is_what_was_asked_for_and_its_memory_is_scaled(
    twin: LocalTwin, stack: dict[str, Any]
) -> None:
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    with twin.databases["plimsoll-cql"].volume as volume:
        assert (volume.volume.type, volume.volume.iops) == ("io1", 700)
        assert volume.limits.baseline_iops == 700
        # of 16 GiB the heap takes a quarter; the page cache has the rest, scaled by 1/128
        assert volume.settings.page_cache_mib == 96
        assert volume.sample().write_bytes > 0  # the node's own first tables are on it


@A_NODE
def test_cloudwatch_has_its_figures_under_the_names_of_ec2_and_ebs(stack: dict[str, Any]) -> None:
    told = outputs(stack)
    instance = told["InstanceIdentifier"]
    volume = find_data_volume_id(instance)
    assert volume is not None
    address = TargetAddress(
        host=told["Endpoint"],
        port=CQL_PORT,
        database="plimsoll",
        identifier=instance,
        protocol="cql",
        volume_id=volume,
    )
    start = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=5)

    def read() -> TargetFigures | None:
        now = dt.datetime.now(dt.UTC)
        samples = read_samples(address, "cassandra", start=start, end=now, period_s=1)
        start_ms, end_ms = (round(moment.timestamp() * 1000) for moment in (start, now))
        return summarize_samples(
            samples, list_whole_periods(start_ms, end_ms, period_s=1), period_s=1
        )

    def all_there() -> bool:
        seen = read()
        return seen is not None and None not in (seen.write_iops, seen.cpu_percent)

    wait_until(all_there, "figures of the volume and of the processor")
    seen = read()
    assert seen is not None
    assert seen.read_iops is not None
    assert seen.write_iops is not None
    assert 0 <= seen.read_iops + seen.write_iops <= 700 * 1.05
    assert seen.burst_balance_percent is None  # io1 has no credits
    assert find_data_volume_id("i-00000000000000000") is None


@A_NODE
def test_its_deletion_leaves_nothing(twin: LocalTwin) -> None:
    clients.use_factory(twin.client)
    stacks = Stacks(twin)
    made = create(twin, "gone", target("i3.large", type="nvme", size_gib=475))
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    database = twin.databases["plimsoll-gone"]
    process = psutil.Process(database.pid)
    assert find_data_volume_id(outputs(made)["InstanceIdentifier"]) is None
    with database.volume as volume:
        assert volume.limits.baseline_iops is None  # an instance's own disks have no cap
    state = state_path(database.directory)
    assert stacks.delete("plimsoll-run-gone")["StackStatus"] == "DELETE_COMPLETE"
    assert not process.is_running()
    assert "plimsoll-gone" not in twin.databases
    assert not Path(database.directory).exists()
    assert not state.exists()


def test_an_instance_that_cannot_be_says_why_and_leaves_nothing(twin: LocalTwin) -> None:
    asked = target("r5.large", type="io1", size_gib=100, iops=700)
    unknown = asked.model_copy(update={"instance_type": "r5.tiny"})
    made = create(twin, "odd", unknown)
    assert made["StackStatus"] == "CREATE_FAILED"
    reasons = Stacks(twin).reasons("plimsoll-run-odd")
    assert "r5.tiny" in reasons["Instance", "CREATE_FAILED"]
    assert "plimsoll-odd" not in twin.databases
    Stacks(twin).delete("plimsoll-run-odd")
