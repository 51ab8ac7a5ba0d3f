"""Cassandra on EC2: a real server with its own address, on an emulated data volume."""

import secrets
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.elastic_block_store import VolumeAttachment
from moto.ec2.utils import random_instance_id

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.local.databases.cassandra_server import CassandraServer
from plimsoll.local.databases.cassandra_settings import make_ring_settings
from plimsoll.local.resources.registry import Database, Databases, find_instance_memory_mib
from plimsoll.local.resources.sampler import name_ec2_metrics
from plimsoll.local.resources.snapshots import Snapshots
from plimsoll.local.resources.template_volumes import read_volume
from plimsoll.model.aws.instances import find_instance_limits
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.engine.networks import ClusterPlace
from plimsoll.model.request.cassandra_target import (
    CQL_PORT,
    DATA_DEVICE,
    KEYSPACE,
    STORAGE_PORT,
    has_instance_store,
)
from plimsoll.volumes import EmulatedVolume, VolumeSettings

ALONE = ClusterPlace()
_MIN_MEMTABLES_MIB = 32  # with less, small flushes and their compactions take all of two cores


def create_instance(
    databases: Databases,
    snapshots: Snapshots,
    *,
    run_id: str,
    instance_type: str,
    data: Mapping[str, Any] | None,
    place: ClusterPlace = ALONE,
) -> Database:
    """Start what the template's instance runs: Cassandra, with its data on the data volume.

    Args:
        databases: The registry, in which it is named `plimsoll-<run id>`; a cluster's further nodes
            are named `plimsoll-<run id>-2` and so on.
        snapshots: The snapshots from which its data volume may be made.
        run_id: The run that the instance's tags name.
        instance_type: The EC2 instance type.
        data: The data volume as a launch template describes it (`Ebs`); None for instance storage.
        place: The node's place in its cluster, if it belongs to one.

    Raises:
        UsageError: EC2 has no such instance or volume.
        PlimsollError: The server did not start.
    """
    memory_mib = find_instance_memory_mib(instance_type)
    if data is None and not has_instance_store(instance_type):
        raise UsageError(f"the instance has no nvme volume: {instance_type}")
    instance_id = random_instance_id()
    identifier = f"plimsoll-{run_id}" + (f"-{place.number}" if place.number > 1 else "")

    def start(directory: Path, undo: ExitStack) -> Database:
        heap_mib = choose_default_heap_mib(memory_mib)
        requested = _read_volume(data)
        on_ebs = data is not None and requested.cloud == "aws"
        volume = EmulatedVolume.create(
            directory,
            requested,
            service="ebs",
            instance_limits=find_instance_limits(instance_type) if on_ebs else None,
            settings=VolumeSettings(
                page_cache_mib=round((memory_mib - heap_mib) * databases.memory_scale)
            ),
        )
        undo.callback(volume.close)
        if data is not None and "SnapshotId" in data:
            snapshots.restore(str(data["SnapshotId"]), directory)
        server = CassandraServer.start(
            directory=directory / "server",
            settings=make_memory_settings(heap_mib, databases.memory_scale)
            | make_ring_settings(place),
            environment=volume.environment(),
            host=_choose_address(),
            port=CQL_PORT,
            storage_port=None if place.nodes == 1 else STORAGE_PORT,
            seed=place.seed,
        )
        undo.callback(server.remove)
        if place.seed is not None:
            _await_joined(place, server.host)
        volume_id = None if data is None else _describe_volume(instance_id, volume.volume)
        sampler = databases.sample(volume, server.pid, name_ec2_metrics(instance_id, volume_id))
        attributes = {"InstanceId": instance_id, "PrivateIp": server.host}
        return Database(
            identifier=identifier,
            directory=directory,
            volume=volume,
            server=server,
            sampler=sampler,
            attributes=attributes,
            forget=lambda: _forget_volume(volume_id),
        )

    return databases.create(identifier, start)


def _await_joined(place: ClusterPlace, host: str) -> None:
    """Wait until both the node and the cluster's first node see it in the ring."""
    from plimsoll.databases.cassandra.session import await_ring  # noqa: PLC0415 - its driver is slow to import

    joined = EngineTarget(
        protocol="cql",
        host=str(place.seed),
        port=CQL_PORT,
        user="",
        password="",
        database=KEYSPACE,
        nodes=(host,),
    )
    await_ring(joined, nodes=place.number)


def choose_default_heap_mib(memory_mib: int) -> int:
    """Return Cassandra's default heap for an instance's memory, in MiB (conf/cassandra-env.sh).

    It is the larger of half of the memory up to 1 GiB and a quarter of it up to 8 GiB.
    """
    return max(min(memory_mib // 2, 1024), min(memory_mib // 4, 8192))


def make_memory_settings(heap_mib: int, memory_scale: float) -> dict[str, object]:
    """Scale Cassandra's memory use: a quarter of its heap for memtables, 5 % for keys.

    The JVM's own heap is not scaled: with 1/128 of 4 GiB it would not start.
    """
    scaled_mib = heap_mib * memory_scale
    memtables_mib = max(_MIN_MEMTABLES_MIB, round(scaled_mib / 4))
    return {
        "memtable_heap_space": f"{memtables_mib}MiB",
        "memtable_offheap_space": f"{memtables_mib}MiB",
        "key_cache_size": f"{max(1, round(scaled_mib / 20))}MiB",
    }


def _read_volume(data: Mapping[str, Any] | None) -> Volume:
    if data is None:
        return Volume(type="nvme", size_gib=1)  # the size does not matter here
    return read_volume(
        data["VolumeType"], data["VolumeSize"], data.get("Iops"), data.get("Throughput")
    )


def _choose_address() -> str:
    """Choose an address of the loopback network on which CQL's port is free.

    Raises:
        PlimsollError: There is none.
    """
    for _ in range(20):
        network, host = 73 + secrets.randbelow(64), 1 + secrets.randbelow(254)
        address = f"127.{network}.{secrets.randbelow(256)}.{host}"
        with socket.socket() as probe:
            try:
                probe.bind((address, CQL_PORT))
            except OSError:
                continue
            return address
    raise PlimsollError(f"port {CQL_PORT} is taken on every address of the loopback network")


def _describe_volume(instance_id: str, volume: Volume) -> str:
    """Register the data volume with EC2 as attached to the instance."""
    backend = ec2_backends[ACCOUNT][REGION]
    described = backend.create_volume(
        size=volume.size_gib,
        zone_name=f"{REGION}a",
        volume_type=volume.type if volume.cloud == "aws" else "gp3",
        iops=volume.iops,
        throughput=volume.throughput_mib_s,
    )
    instance = SimpleNamespace(id=instance_id)
    described.attachment = VolumeAttachment(  # type: ignore[abstract] # moto makes them, too
        described, instance, DATA_DEVICE, "attached"
    )
    return str(described.id)


def _forget_volume(volume_id: str | None) -> None:
    if volume_id is not None:
        ec2_backends[ACCOUNT][REGION].volumes.pop(volume_id, None)
