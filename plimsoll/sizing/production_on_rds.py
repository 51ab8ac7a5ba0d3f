"""Today's load on an RDS instance, from hourly CloudWatch metrics."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll import words
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.run.run_record import TargetAddress
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
            f" {words.duration(for_s)}: CloudWatch is asked for hourly means"
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
            f"CloudWatch has no data of the RDS instance {instance} since {words.moment(began)}:"
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
        notes.append(f"CloudWatch has data of {len(samples)} of {words.plural(hours, 'hour')}")
    return Observation(
        source="cloudwatch",
        database=instance,
        began=began,
        ended=ended,
        sample_s=HOUR_S,
        rates=Rates(
            read_iops=spread(lambda sample: sample.read_iops),
            write_iops=spread(lambda sample: sample.write_iops),
            iops=spread(lambda sample: _add_known(sample.read_iops, sample.write_iops)),
            mib=spread(lambda sample: _add_known(sample.read_mib_s, sample.write_mib_s)),
            cpu_percent=spread(lambda sample: sample.cpu_percent),
            queue=spread(lambda sample: sample.queue),
        ),
        notes=tuple(notes),
    )


def _add_known(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
