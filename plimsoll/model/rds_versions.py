"""RDS's versions of each engine, and the ends of their support: what is known without asking RDS.

Each day is the last one on which RDS supports a version; where AWS names a month alone, the last of
that month. From then on RDS makes no new database of it. AWS may put a day off and brings new minor
versions every few weeks, so a service on AWS asks RDS itself for what this table does not know.

Sources, read on 2026-11-22: "MariaDB on Amazon RDS versions" and "MySQL on Amazon RDS versions" of
the RDS user guide (docs.aws.amazon.com/AmazonRDS/latest/UserGuide/, MariaDB.Concepts.VersionMgmt
and MySQL.Concepts.VersionMgmt); where these give no day, the answers of DescribeDBEngineVersions of
2026-07-07 in github.com/aws/aws-cdk/pull/38261 and the versions of aws-cdk-lib 2.275.0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import assert_never

from plimsoll import words
from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.databases import RdsEngine

AS_OF = date(2026, 11, 22)


@dataclass(frozen=True)
class Major:
    """A major version of an engine on RDS.

    Attributes:
        standard_until: The last day of standard support.
        extended_until: The last day of Extended Support, which RDS charges for; None: it has none.
        minors: The last day of each minor version that is known; None: it is not announced.
    """

    standard_until: date
    extended_until: date | None = None
    minors: Mapping[str, date | None] = field(default_factory=dict)

    @property
    def until(self) -> date:
        """The last day on which RDS makes databases of it."""
        return self.extended_until or self.standard_until


_MARIADB = {
    "11.8": Major(
        standard_until=date(2030, 6, 30),
        minors={"11.8.6": date(2027, 2, 28), "11.8.5": date(2026, 11, 30)},
    ),
    "11.4": Major(
        standard_until=date(2029, 5, 31),
        minors={
            "11.4.10": None,
            "11.4.9": date(2026, 10, 31),
            "11.4.8": date(2026, 10, 31),
            "11.4.7": date(2026, 10, 31),
            "11.4.5": date(2026, 5, 31),
        },
    ),
    "10.11": Major(standard_until=date(2028, 2, 29), minors={"10.11.16": None}),
    "10.6": Major(standard_until=date(2026, 8, 31)),
    "10.5": Major(standard_until=date(2025, 6, 30)),
    "10.4": Major(standard_until=date(2025, 2, 28)),
}
_MYSQL = {
    "8.4": Major(
        standard_until=date(2029, 7, 31),
        extended_until=date(2032, 7, 31),
        minors={
            "8.4.10": None,
            "8.4.9": None,
            "8.4.8": None,
            "8.4.7": None,
            "8.4.6": date(2026, 9, 30),
        },
    ),
    "8.0": Major(
        standard_until=date(2026, 7, 31),
        extended_until=date(2029, 7, 31),
        minors={"8.0.46": None},
    ),
    "5.7": Major(standard_until=date(2024, 2, 29), extended_until=date(2027, 2, 28)),
}


def rds_majors(engine: RdsEngine) -> Mapping[str, Major]:
    """Look up the major versions of an engine that RDS has or had, the newest first."""
    match engine:
        case "mariadb":
            return _MARIADB
        case "mysql":
            return _MYSQL
        case _:
            assert_never(engine)


def major_of(version: str) -> str:
    """Name the major version that a version belongs to: 11.4 of 11.4.10."""
    return ".".join(version.split(".")[:2])


def is_major(version: str) -> bool:
    """Whether a version leaves the minor one open: 11.4."""
    return version.count(".") < 2


def require_unended(engine: RdsEngine, version: str, *, on: date) -> None:
    """Refuse a version whose support is known to have ended.

    Raises:
        UsageError: It has.
    """
    major = rds_majors(engine).get(major_of(version))
    if major is None:
        return
    ended = major.until if major.until < on else major.minors.get(version)
    if ended is not None and ended < on:
        name = major_of(version) if ended == major.until else version
        problem = f"RDS's support of {words.ENGINES[engine]} {name} ended on {ended}"
        raise _refusal(engine, version, problem, on)


def require_known(engine: RdsEngine, version: str, *, on: date) -> None:
    """Refuse a version that RDS is not known to offer, where RDS cannot be asked.

    A major version is known for what RDS offers of it. So newer minor versions than the table's are
    refused here, and can be had by their major version.

    Raises:
        UsageError: Its support has ended, or it is not in the table.
    """
    require_unended(engine, version, on=on)
    major = rds_majors(engine).get(major_of(version))
    if major is None or not (is_major(version) or version in major.minors):
        name = f"{words.ENGINES[engine]} {version}"
        problem = f"{name} is none of the versions that RDS is known to offer (as of {AS_OF})"
        raise _refusal(engine, version, problem, on)


def _refusal(engine: RdsEngine, version: str, problem: str, on: date) -> UsageError:
    return UsageError(
        Complaint(("target", "engine_version"), problem, version, offered(engine, version, on=on))
    )


def offered(engine: RdsEngine, version: str, *, on: date) -> tuple[str, ...]:
    """List what may stand in a version's place: of its major version, or else major versions."""
    majors = rds_majors(engine)
    major = majors.get(major_of(version))
    if major is None or major.until < on:
        return tuple(name for name, other in majors.items() if other.until >= on)
    return tuple(_alive(major_of(version), major, on))


def _alive(name: str, major: Major, on: date) -> Iterator[str]:
    yield name
    for minor, until in major.minors.items():
        if until is None or until >= on:
            yield minor


def extended_support_note(engine: RdsEngine, version: str, *, on: date) -> str | None:
    """Say that RDS charges more for a version; None where its standard support goes on."""
    major = rds_majors(engine).get(major_of(version))
    if major is None or major.standard_until >= on or major.extended_until is None:
        return None
    name = f"{words.ENGINES[engine]} {major_of(version)}"
    since = major.standard_until + timedelta(days=1)
    return (
        f"{name} has been in RDS Extended Support since {since}, which RDS charges by the vCPU-hour"
        f" until {major.extended_until}: not reckoned with here."
    )
