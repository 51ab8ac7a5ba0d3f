"""The load on an RDS instance, from CloudWatch: today's by the hour, its history by the minute."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from botocore.exceptions import BotoCoreError, ClientError
from numpy.typing import NDArray
from pydantic import ValidationError

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.aws.volume_rules import STRIPING_FROM_GIB
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.run.run_record import TargetAddress
from plimsoll.sizing.lateness import History
from plimsoll.sizing.production import Observation, Rates, Spread
from plimsoll.targets.cloudwatch_metrics import read_samples

SCHEME = "rds://"
HOUR_S = 3600
# docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html: hourly data
# points are kept for 455 days
LONGEST_S = 455 * 86_400
# docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBInstance.html
_IDENTIFIER = re.compile(r"[A-Za-z](?:-?[A-Za-z0-9]){0,62}")


def parse_instance(dsn: str) -> str | None:
    """Return the instance that `rds://INSTANCE` names; None if the text is no such address.

    Raises:
        UsageError: It has no valid instance identifier.
    """
    if not dsn.startswith(SCHEME):
        return None
    name = dsn.removeprefix(SCHEME)
    if len(name) > 63 or not _IDENTIFIER.fullmatch(name):
        raise UsageError(
            f"{name[:64]!r} is not an identifier of an RDS instance (at most 63 letters,"
            " digits and single hyphens, a letter first)"
        )
    return name


def observe_rds(instance: str, for_s: float, now: datetime) -> Observation:
    """Read an instance's hourly metrics up to the last whole hour.

    Raises:
        UsageError: The duration is not in whole hours, or CloudWatch does not keep data so long.
        PlimsollError: AWS refuses the request, or CloudWatch has no data of the instance.
    """
    if not HOUR_S <= for_s <= LONGEST_S or for_s % HOUR_S:
        raise UsageError(
            "--for: an RDS instance is observed for whole hours, from 1h to 455d, not"
            f" {words.format_duration(for_s)}: CloudWatch is asked for hourly means"
        )
    ended = now.replace(minute=0, second=0, microsecond=0)
    began = ended - timedelta(hours=round(for_s / HOUR_S))
    address = TargetAddress(
        host="", port=0, database="", identifier=instance, protocol="mysql"
    )  # CloudWatch needs the identifier alone
    try:
        samples = read_samples(address, "rds", start=began, end=ended, period_s=HOUR_S)
    except (BotoCoreError, ClientError) as error:
        raise PlimsollError(f"CloudWatch: {words.escape_controls(str(error))}") from None
    if not samples:
        raise PlimsollError(
            f"CloudWatch has no data of the RDS instance {instance} since"
            f" {words.format_moment(began)}:"
            " is it in this account and region?"
        )
    return summarize_instance(instance, samples, began, ended)


def summarize_instance(
    instance: str, samples: Sequence[TargetSample], began: datetime, ended: datetime
) -> Observation:
    """Summarize the hours of an instance."""

    def spread(of: Callable[[TargetSample], float | None]) -> Spread | None:
        return Spread.of([of(sample) for sample in samples])

    hours = round((ended - began).total_seconds() / HOUR_S)
    notes = [
        "each sample is the mean of an hour: single minutes may have been busier",
        "CloudWatch does not count operations: give a DSN of the database to see them",
    ]
    if len(samples) < hours:
        notes.append(
            f"CloudWatch has data of {len(samples)} of {words.format_count(hours, 'hour')}"
        )
    return Observation(
        source="cloudwatch",
        database=instance,
        began=began,
        ended=ended,
        sample_s=HOUR_S,
        rates=Rates(
            read_iops=spread(lambda sample: sample.read_iops),
            write_iops=spread(lambda sample: sample.write_iops),
            iops=spread(lambda sample: sample.iops),
            mib=spread(lambda sample: sample.mib_s),
            cpu_percent=spread(lambda sample: sample.cpu_percent),
            queue=spread(lambda sample: sample.queue),
        ),
        notes=tuple(notes),
    )


# The history of an instance for `plimsoll advise`, by the minute.

MINUTE_S, FIVE_MINUTES_S = 60, 300
# cloudwatch_concepts.html (above): points of a minute are kept for 15 days, of five for 63
MINUTES_LONGEST_S, LONGEST_HISTORY_S = 15 * 86_400, 63 * 86_400
MULTI_AZ = (
    "the prices of Multi-AZ, which are about twice these of a single zone, and what its replication"
    " adds to a commit"
)


def read_instances(
    names: Sequence[str] = (),
) -> list[tuple[str, RdsTarget | str, tuple[str, ...]]]:
    """Read what an account's RDS instances stand on, and what is not known of each.

    A text in place of a target says why the instance cannot be judged.

    Args:
        names: The instances; none for all.

    Raises:
        PlimsollError: AWS refuses the request, or there is no such instance.
    """
    paginator = clients.rds().get_paginator("describe_db_instances")
    calls = [paginator.paginate(DBInstanceIdentifier=name) for name in names]
    try:
        pages = [page for call in calls or [paginator.paginate()] for page in call]
    except (BotoCoreError, ClientError) as error:
        raise PlimsollError(f"RDS: {words.escape_controls(str(error))}") from None
    found = [dict(instance) for page in pages for instance in page["DBInstances"]]
    return [
        (
            str(one["DBInstanceIdentifier"]),
            _describe_instance(one),
            (MULTI_AZ,) if one.get("MultiAZ") else (),
        )
        for one in found
    ]


def _describe_instance(found: Mapping[str, Any]) -> RdsTarget | str:
    """Return an instance's target; a text says why it cannot be judged."""
    kind, size_gib = str(found["StorageType"]), int(found["AllocatedStorage"])
    provisioned = {
        "iops": found.get("Iops") if kind != "gp3" or size_gib >= STRIPING_FROM_GIB else None,
        "throughput_mib_s": found.get("StorageThroughput")
        if kind == "gp3" and size_gib >= STRIPING_FROM_GIB
        else None,
    }
    if kind == "gp2":
        provisioned = {}
    try:
        return RdsTarget.model_validate(
            {
                "engine": found["Engine"],
                "engine_version": found["EngineVersion"],
                "instance_class": found["DBInstanceClass"],
                "volume": {
                    "type": kind,
                    "size_gib": size_gib,
                    **{field: value or None for field, value in provisioned.items()},
                },
            }
        )
    except (UsageError, ValidationError) as error:
        told = f"{found['Engine']} on {kind} is not judged: {error}"
        return words.escape_controls(told.splitlines()[0])


def read_instance_history(instance: str, for_s: float, now: datetime) -> History:
    """Read an instance's minutes, beyond 15 days its five minutes, up to the last whole one.

    Of five minutes CloudWatch has the largest minute: it is taken for the third of them.

    Raises:
        UsageError: CloudWatch does not keep such points for so long.
        PlimsollError: AWS refuses the request, or CloudWatch has no I/O of the instance.
    """
    if not HOUR_S <= for_s <= LONGEST_HISTORY_S:
        raise UsageError(
            f"--for: from 1h to 63d, not {words.format_duration(for_s)}: CloudWatch keeps minutes"
            " for 15"
            " days and five minutes for 63"
        )
    period_s = MINUTE_S if for_s <= MINUTES_LONGEST_S else FIVE_MINUTES_S
    ended = datetime.fromtimestamp(now.timestamp() // period_s * period_s, UTC)
    began = ended - timedelta(seconds=for_s)
    address = TargetAddress(host="", port=0, database="", identifier=instance, protocol="mysql")
    try:
        means = read_samples(address, "rds", start=began, end=ended, period_s=period_s)
        most = means
        if period_s == FIVE_MINUTES_S:
            most = read_samples(
                address,
                "rds",
                start=began,
                end=ended,
                period_s=period_s,
                statistic="Maximum",
            )
    except (BotoCoreError, ClientError) as error:
        raise PlimsollError(f"CloudWatch: {words.escape_controls(str(error))}") from None
    highest = {sample.epoch_ms: sample for sample in most}
    known = [
        (mean, highest[mean.epoch_ms])
        for mean in means
        if _sum_io(mean) and mean.epoch_ms in highest and _sum_io(highest[mean.epoch_ms])
    ]
    if not known:
        raise PlimsollError(
            f"CloudWatch has no I/O of the RDS instance {instance} since"
            f" {words.format_moment(began)}: is"
            " it in this account and region?"
        )
    return make_history(known, period_s)


def _sum_io(sample: TargetSample) -> tuple[float, float] | None:
    """Return I/Os and bytes a second; None if one of them is not known."""
    iops, mib_s = sample.iops, sample.mib_s
    return None if iops is None or mib_s is None else (iops, mib_s * 2**20)


def make_history(samples: Sequence[tuple[TargetSample, TargetSample]], period_s: int) -> History:
    """Make a history by the minute of means and largest minutes.

    Args:
        samples: The mean and the largest minute of each period, with their I/Os.
        period_s: Length of a period: a minute or five.
    """
    parts = period_s // MINUTE_S

    def divide(values: Sequence[tuple[float | None, float | None]]) -> NDArray[np.float64] | None:
        known = [value for pair in values for value in pair if value is not None]
        if len(known) < 2 * len(values):  # a missing queue is no empty one
            return None
        mean, high = np.array(known, float).reshape(-1, 2).T
        if parts == 1:
            return mean
        high = np.clip(high, mean, parts * mean)
        minutes = np.tile(((parts * mean - high) / (parts - 1))[:, None], parts)
        minutes[:, parts // 2] = high
        return minutes.ravel()

    io = [(_sum_io(mean) or (0.0, 0.0), _sum_io(high) or (0.0, 0.0)) for mean, high in samples]
    iops, bytes_s = (divide([(mean[at], high[at]) for mean, high in io]) for at in (0, 1))
    assert iops is not None  # noqa: S101 - samples have their I/Os
    assert bytes_s is not None  # noqa: S101 - likewise
    begins_s = np.array([mean.epoch_ms / 1000 for mean, _ in samples])
    return History(
        float(MINUTE_S),
        (begins_s[:, None] + MINUTE_S * np.arange(parts, dtype=float)).ravel(),
        np.column_stack((iops, bytes_s)),
        divide([(mean.queue, high.queue) for mean, high in samples]),
        _divide_by_100(divide([(mean.cpu_percent, high.cpu_percent) for mean, high in samples])),
    )


def _divide_by_100(percent: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return None if percent is None else percent / 100
