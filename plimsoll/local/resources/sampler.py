"""Publishes metrics of a target's volume and processor to CloudWatch, with AWS's own names.

https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html,
https://docs.aws.amazon.com/ebs/latest/userguide/using_cloudwatch_ebs.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html. AWS
publishes once a minute, a minute or two late. A run on one machine is too short for that, so its
period is a second unless the deployment sets another. Seven metrics are the twin's own:
`FlushLatency` is the mean latency of a flush.
`EscapedIOPS` and `EscapedThroughput` (bytes per second) are the I/O that bypassed the emulated
volume.
`HostLateShare` is the percentage of the time in I/O that was due to this machine and not to the
volume.
`HostStolenShare`, `HostOthersShare` and `HostIdleShare` are percentages of this machine's processor
time: what its hypervisor gave to other guests, what processes outside of the run used (other
targets among them), and what was idle.
"""

import datetime as dt
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from moto.cloudwatch.models import cloudwatch_backends

from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.machine import TICKS_PER_S, CpuShares, CpuTimes, cpu_times, shares
from plimsoll.model.aws.volumes_seen import VolumeRates, VolumeSample, rates
from plimsoll.volumes import EmulatedVolume

HELD_UP_MAX = 60  # most points for a standstill; a longer one gets those at its end


@dataclass(frozen=True)
class Points:
    """One period's values of one entity in CloudWatch."""

    namespace: str
    dimension: tuple[str, str]  # name and value
    values: dict[str, tuple[float | None, str]]  # value and unit of each metric


@dataclass(frozen=True)
class Seen:
    """The measurements of one period."""

    period_s: int
    volume: VolumeRates
    cpu_percent: float | None  # the target's share of this machine
    machine: CpuShares | None


Naming = Callable[[Seen], Sequence[Points]]


def name_rds_metrics(identifier: str) -> Naming:
    """Name measurements as RDS does."""

    def name(period: Seen) -> Sequence[Points]:
        seen = period.volume
        values: dict[str, tuple[float | None, str]] = {
            "ReadIOPS": (seen.read_iops, "Count/Second"),
            "WriteIOPS": (seen.write_iops, "Count/Second"),
            "ReadThroughput": (seen.read_mib_s * 2**20, "Bytes/Second"),
            "WriteThroughput": (seen.write_mib_s * 2**20, "Bytes/Second"),
            "ReadLatency": (_to_seconds(seen.read_latency_us), "Seconds"),
            "WriteLatency": (_to_seconds(seen.write_latency_us), "Seconds"),
            "FlushLatency": (_to_seconds(seen.flush_latency_us), "Seconds"),
            "DiskQueueDepth": (seen.queue, "Count"),
            "BurstBalance": (seen.burst_balance_percent, "Percent"),
            **_list_machine_values(period),
        }
        return [Points("AWS/RDS", ("DBInstanceIdentifier", identifier), values)]

    return name


def name_ec2_metrics(instance_id: str, volume_id: str | None) -> Naming:
    """Name measurements as EC2 and EBS do; without an EBS volume, as for instance storage.

    EBS and EC2 count operations and bytes of a period, RDS gives rates.
    """

    def name(period: Seen) -> Sequence[Points]:
        seen, length_s = period.volume, period.period_s
        prefix = "Volume" if volume_id else "Disk"
        storage: dict[str, tuple[float | None, str]] = {
            f"{prefix}ReadOps": (seen.read_iops * length_s, "Count"),
            f"{prefix}WriteOps": (seen.write_iops * length_s, "Count"),
            f"{prefix}ReadBytes": (seen.read_mib_s * 2**20 * length_s, "Bytes"),
            f"{prefix}WriteBytes": (seen.write_mib_s * 2**20 * length_s, "Bytes"),
        }
        instance = _list_machine_values(period)
        if volume_id is None:
            instance |= storage
            return [Points("AWS/EC2", ("InstanceId", instance_id), instance)]
        storage |= {
            "VolumeQueueLength": (seen.queue, "Count"),
            "BurstBalance": (seen.burst_balance_percent, "Percent"),
        }
        return [
            Points("AWS/EC2", ("InstanceId", instance_id), instance),
            Points("AWS/EBS", ("VolumeId", volume_id), storage),
        ]

    return name


def _list_machine_values(seen: Seen) -> dict[str, tuple[float | None, str]]:
    known: dict[str, tuple[float | None, str]] = {
        "CPUUtilization": (seen.cpu_percent, "Percent"),
        "EscapedIOPS": (seen.volume.escaped_iops, "Count/Second"),
        "EscapedThroughput": (_to_bytes(seen.volume.escaped_mib_s), "Bytes/Second"),
        "HostLateShare": (_to_percent(seen.volume.late_share), "Percent"),
    }
    if seen.machine is not None:
        known |= {
            "HostStolenShare": (_to_percent(seen.machine.stolen), "Percent"),
            "HostOthersShare": (_to_percent(seen.machine.others), "Percent"),
            "HostIdleShare": (_to_percent(seen.machine.idle), "Percent"),
        }
    return known


def _to_seconds(microseconds: float | None) -> float | None:
    return None if microseconds is None else microseconds / 1e6


def _to_bytes(mib: float | None) -> float | None:
    return None if mib is None else mib * 2**20


def _to_percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def list_periods_to_publish(published: int, ended_epoch_ms: int, period_s: int = 1) -> range:
    """Return which periods need points now: each gets them once, since CloudWatch sums counts.

    A point belongs to the period that begins at its time, so a period gets its points when it has
    ended. If this machine stood still for several periods, each of them gets the average of the
    whole interval.

    Args:
        published: The number of the last period with points, counted from the epoch; 0 if there is
            none.
        ended_epoch_ms: The end of the measured interval.
        period_s: The period of the metrics in seconds.
    """
    last = max(published + 1, ended_epoch_ms // (1000 * period_s) - 1)
    first = max(published + 1, last - HELD_UP_MAX + 1) if published else last
    return range(first, last + 1)


def wait_s(epoch_s: float, period_s: int = 1) -> float:
    """Return the seconds until the next sample: to the end of a period, but at least 0.5 s."""
    return math.ceil((epoch_s + 0.5) / period_s) * period_s - epoch_s


def compute_server_percent(before: CpuTimes | None, after: CpuTimes | None) -> float | None:
    """Compute the server's CPU utilization between two readings, in percent; None if unknown.

    By the clock and not by the machine's ticks, which within a second may differ from the time of
    processes by some percent.
    """
    if before is None or after is None or before.server is None or after.server is None:
        return None
    length_s, cores = after.at_s - before.at_s, os.cpu_count() or 1
    return 100 * (after.server - before.server) / TICKS_PER_S / cores / length_s


class Sampler:
    """Publishes one target's figures until it is closed."""

    _targets: ClassVar[set[int]] = set()  # process ids of all targets here

    def __init__(
        self,
        volume: EmulatedVolume,
        pid: int,
        naming: Naming,
        *,
        period_s: int = 1,
        late_s: float = 0,
    ) -> None:
        """Start sampling.

        Args:
            volume: The target's volume.
            pid: The server's process id.
            naming: The function that names measurements as CloudWatch does.
            period_s: The period of points in seconds.
            late_s: The delay of points after their period's end in seconds; less than a period.
        """
        self._run_pid = os.getppid()  # the twin's parent: all processes of a run descend from it
        self._targets.add(pid)
        self._volume = volume
        self._pid = pid
        self._naming = naming
        self._period_s = period_s
        self._late_s = late_s
        self._published = 0  # the last period that got its points
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait until it has stopped: the volume may then be removed."""
        self._closed.set()
        self._thread.join()
        self._targets.discard(self._pid)

    def _run(self) -> None:
        before, cpu_before = self._look()
        while not self._closed.wait(wait_s(time.time(), self._period_s)):
            after, cpu = self._look()
            machine = shares(cpu_before, cpu)
            cpu_percent = compute_server_percent(cpu_before, cpu)
            seen = Seen(self._period_s, rates(before, after), cpu_percent, machine)
            self._closed.wait(self._late_s)
            self._publish(seen, after.epoch_ms)
            before, cpu_before = after, cpu

    def _look(self) -> tuple[VolumeSample, CpuTimes | None]:
        # it works for the run, but descends from no process of it
        watcher = self._volume.watcher_pid
        ours = {self._run_pid} if watcher is None else {self._run_pid, watcher}
        return self._volume.sample(), cpu_times(
            ours, strangers=self._targets - {self._pid}, servers={self._pid}
        )

    def _publish(self, seen: Seen, epoch_ms: int) -> None:
        for number in list_periods_to_publish(self._published, epoch_ms, self._period_s):
            self._published = number
            self._publish_period(seen, dt.datetime.fromtimestamp(number * self._period_s, dt.UTC))

    def _publish_period(self, seen: Seen, begin: dt.datetime) -> None:
        at = begin.replace(tzinfo=None)
        for points in self._naming(seen):
            name, value_of = points.dimension
            known = {n: (v, unit) for n, (v, unit) in points.values.items() if v is not None}
            cloudwatch_backends[ACCOUNT][REGION].put_metric_data(
                points.namespace,
                [
                    {
                        "MetricName": metric,
                        "Dimensions": [{"Name": name, "Value": value_of}],
                        "Timestamp": at,
                        "Value": value,
                        "Unit": unit,
                    }
                    for metric, (value, unit) in known.items()
                ],
            )
