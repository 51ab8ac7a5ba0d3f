"""Descriptions of targets and volumes in words, the same wherever they are shown."""

from plimsoll import words
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.request.request import Target


def describe_target(
    target: Target, *, version: str | None = None, stand_in: str | None = None
) -> str:
    """Name a target: `MariaDB 11.4 on db.m5.large, io1 100 GiB`, or `MySQL at db.lan:3306`.

    Args:
        target: the requested target.
        version: version that RDS resolved the requested one to, `11.4.10`; None if unknown.
        stand_in: version string of the local server that stands in for the target, as in
            `MariaDB 11.4.5 on this machine, for MySQL 8.4 on ...`; None if there is none.
    """
    engine = words.ENGINES[target.engine]
    if isinstance(target, EndpointTarget):
        as_text = ", statements sent as text" if target.statement_mode == "simple" else ""
        return f"{engine} at {target.host}:{target.port}{as_text}"
    made_of = f"{engine} {version or target.engine_version} on {target.instance_class}"
    if isinstance(target, AuroraTarget):
        return f"{made_of}, {words.AURORA_STORAGE[target.storage]} storage"
    whole = f"{made_of}, {describe_volume(target.volume)}"
    if isinstance(target, CassandraTarget) and target.nodes > 1:
        copies = "one copy" if target.copies == 1 else f"{target.copies} copies"
        whole += f", {target.nodes} nodes with {copies} of each row"
    if stand_in is None:
        return whole
    own = words.ENGINES["mariadb"] if "mariadb" in stand_in.lower() else engine
    number = stand_in.partition("-")[0].removeprefix(f"{own} ")
    return f"{own} {number} on this machine, for {whole}"


def describe_volume(volume: Volume) -> str:
    """Name a volume with its provisioned values: `gp3 400 GiB, 12,000 IOPS, 500 MiB/s`."""
    level = "" if volume.level is None else f" {volume.level}"
    parts = [f"{volume.type}{level} {volume.size_gib:,} GiB"]
    if volume.iops is not None:
        parts.append(f"{volume.iops:,} IOPS")
    if volume.throughput_mib_s is not None:
        parts.append(f"{volume.throughput_mib_s:,} MiB/s")
    if volume.throughput_mb_s is not None:
        parts.append(f"{volume.throughput_mb_s:,} MB/s")
    if volume.burst:
        parts.append("with burst")
    if volume.read_cache_mib is not None:
        parts.append(f"read cache of {volume.read_cache_mib:,} MiB")
    return ", ".join(parts)
