"""Versions of each engine on RDS and the ends of their support, for use without a call to RDS.

Each date is the last day on which RDS supports a version. Where AWS names only a month, it is the
last day of that month. After it, RDS creates no new database of that version. AWS may postpone a
date and adds minor versions every few weeks, so a deployment on AWS asks RDS about any version
that this table does not have.

Sources, read on 2026-11-22: "MariaDB on Amazon RDS versions" and "MySQL on Amazon RDS versions" of
the RDS user guide (docs.aws.amazon.com/AmazonRDS/latest/UserGuide/, MariaDB.Concepts.VersionMgmt
and MySQL.Concepts.VersionMgmt); where these give no day, the answers of DescribeDBEngineVersions of
2026-07-07 in github.com/aws/aws-cdk/pull/38261 and the versions of aws-cdk-lib 2.275.0.

PostgreSQL, from what could be read on 2026-11-23: the ends of major versions as
github.com/endoflife-date/endoflife.date has them from AWS's "Release calendars for Amazon RDS for
PostgreSQL" (2026-08-22), which also names each one's newest minor version then; the other minor
versions as in aws-cdk-lib 2.275.0; the ends of 16.5 to 16.8 and of 17.1 to 17.4 as AWS announced
them to the accounts that had them (github.com/saayam-for-all/database/wiki, 2026-05-30). No source
was found for the ends of the others, nor for minor versions since August.

Aurora: the versions that RDS offered on 2026-08-06 as github.com/ministackorg/ministack has them
(of Aurora MySQL 8.0 those since 3.08; each is compatible with the MySQL that the release notes of
Aurora MySQL name: 3.10 with 8.0.42, 3.11 with 8.0.43, 3.12 with 8.0.44); the ends of Aurora
PostgreSQL's major versions from endoflife.date as above, and that of Aurora MySQL's 8.0 from its
page on Aurora MySQL (2026-05-20, read 2026-11-27), which has AWS's "Release calendars for Aurora
MySQL". No source was found for the end of Aurora MySQL's 8.4, nor of any minor version.

Extended Support begins on the day after a version's last day of standard support, and costs twice
as much from its third year on: docs.aws.amazon.com/AmazonRDS/latest/UserGuide/, "Amazon RDS
Extended Support charges", and the calendars in infracost's resources/aws/db_instance.go (MySQL 8.0
from 2026-08-01, third year from 2028-08-01; MySQL 5.7 from 2024-03-01 and 2026-03-01), both read on
2026-11-27. MariaDB has none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal, assert_never

from plimsoll import words
from plimsoll.complaints import Complaint, FieldPath
from plimsoll.errors import UsageError
from plimsoll.model.databases import ManagedEngine

AS_OF = date(2026, 11, 22)
# names of the prices of Extended Support
ExtendedPrice = Literal["years-1-and-2", "year-3"]
_POSTGRESQL: tuple[ManagedEngine, ...] = ("postgres", "aurora-postgresql")
OLDEST_POSTGRES = 16  # the first that counts I/O by its origin (pg_stat_io)


@dataclass(frozen=True)
class Major:
    """A major version of an engine on RDS.

    Attributes:
        standard_until: last day of standard support; None if unknown.
        extended_until: last day of Extended Support, which RDS charges for; None if there is none.
        minors: last day of each known minor version; None if AWS has not announced one.
    """

    standard_until: date | None
    extended_until: date | None = None
    minors: Mapping[str, date | None] = field(default_factory=dict)

    @property
    def until(self) -> date | None:
        """The last day on which RDS creates databases of this version; None if unknown."""
        return self.extended_until or self.standard_until

    def has_ended(self, on: date) -> bool:
        """Whether RDS is known to create no more databases of this version."""
        return self.until is not None and self.until < on

    def is_extended(self, on: date) -> bool:
        """Whether RDS is known to create this version only with Extended Support."""
        ended = self.standard_until is not None and self.standard_until < on
        return ended and self.extended_until is not None and not self.has_ended(on)


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
_POSTGRES_16_AND_17_ENDED = date(2026, 5, 31)
_POSTGRES = {
    "18": Major(
        standard_until=date(2031, 2, 28),
        extended_until=date(2034, 2, 28),
        minors=dict.fromkeys(("18.4", "18.3", "18.2", "18.1")),
    ),
    "17": Major(
        standard_until=date(2030, 2, 28),
        extended_until=date(2033, 2, 28),
        minors={
            **dict.fromkeys(("17.10", "17.9", "17.8", "17.7", "17.6", "17.5")),
            **dict.fromkeys(("17.4", "17.3", "17.2", "17.1"), _POSTGRES_16_AND_17_ENDED),
        },
    ),
    "16": Major(
        standard_until=date(2029, 2, 28),
        extended_until=date(2032, 2, 29),
        minors={
            **dict.fromkeys(("16.14", "16.13", "16.12", "16.11", "16.10", "16.9")),
            **dict.fromkeys(("16.8", "16.7", "16.6", "16.5"), _POSTGRES_16_AND_17_ENDED),
        },
    ),
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


_AURORA_MYSQL = {
    "8.4": Major(standard_until=None, minors={"8.4.mysql_aurora.8.4.7": None}),
    "8.0": Major(
        standard_until=date(2028, 4, 30),
        extended_until=date(2029, 7, 31),
        minors={
            f"8.0.mysql_aurora.{version}": None
            for version in (
                *("3.12.0", "3.11.1", "3.10.4", "3.10.3", "3.10.2", "3.10.1", "3.10.0"),
                *("3.09.0", "3.08.2", "3.08.1", "3.08.0"),
            )
        },
    ),
}
_AURORA_POSTGRESQL = {
    "18": Major(
        standard_until=date(2031, 2, 28),
        extended_until=date(2034, 2, 28),
        minors=dict.fromkeys(("18.4", "18.3")),
    ),
    "17": Major(
        standard_until=date(2030, 2, 28),
        extended_until=date(2033, 2, 28),
        minors=dict.fromkeys(("17.10", "17.9", "17.7", "17.6", "17.5", "17.4")),
    ),
    "16": Major(
        standard_until=date(2029, 2, 28),
        extended_until=date(2032, 2, 28),
        minors=dict.fromkeys(("16.14", "16.13", "16.11", "16.10", "16.9", "16.8")),
    ),
}


def rds_majors(engine: ManagedEngine) -> Mapping[str, Major]:
    """Return the major versions of an engine that RDS has or had, newest first."""
    match engine:
        case "mariadb":
            return _MARIADB
        case "mysql":
            return _MYSQL
        case "postgres":
            return _POSTGRES
        case "aurora-mysql":
            return _AURORA_MYSQL
        case "aurora-postgresql":
            return _AURORA_POSTGRESQL
        case _:
            assert_never(engine)


def _count_major_numbers(engine: ManagedEngine) -> int:
    return 1 if engine in _POSTGRESQL else 2


def major_of(engine: ManagedEngine, version: str) -> str:
    """Return the major version of a version: 11.4 for MariaDB 11.4.10, 18 for PostgreSQL 18.4."""
    return ".".join(version.split(".")[: _count_major_numbers(engine)])


def is_major(engine: ManagedEngine, version: str) -> bool:
    """Whether a version names no minor version: MariaDB 11.4, PostgreSQL 18."""
    return version.count(".") < _count_major_numbers(engine)


def require_measurable(engine: ManagedEngine, version: str, path: FieldPath) -> None:
    """Refuse a malformed version, and a PostgreSQL older than Plimsoll can measure.

    Args:
        engine: engine of the version.
        version: full version, or a major version.
        path: path of the field that names the version.

    Raises:
        UsageError: The version is refused; the error lists the major versions that are allowed.
    """
    numbers = version.partition(".mysql_aurora.")[0].split(".")
    least, called = _count_major_numbers(engine), words.ENGINES[engine]
    allowed = tuple(
        name for name, major in rds_majors(engine).items() if not major.has_ended(AS_OF)
    )
    if not least <= len(numbers) <= least + 1:
        examples = " or ".join(next(_example_versions(engine)))
        problem = f"a version of {called} is written {examples}"
        raise UsageError(Complaint(path, problem, version, allowed))
    if engine in _POSTGRESQL and int(numbers[0]) < OLDEST_POSTGRES:
        problem = (
            f"{called} can be measured from {OLDEST_POSTGRES} on as a run's own target, since it is"
            " the first that counts I/Os by their origin, and from 13 on as an existing database"
        )
        raise UsageError(Complaint(path, problem, version, allowed))


def _example_versions(engine: ManagedEngine) -> Iterator[tuple[str, str]]:
    for major, known in rds_majors(engine).items():
        for minor in known.minors:
            yield major, minor


def require_unended(
    engine: ManagedEngine, version: str, *, on: date, extended_support: bool
) -> None:
    """Refuse a version whose support is known to have ended.

    Args:
        engine: engine of the version.
        version: full version, or a major version.
        on: day on which a database is created.
        extended_support: whether Extended Support, which RDS charges for, is asked for.

    Raises:
        UsageError: RDS's support of the version has ended, or its standard support has and Extended
            Support is not asked for.
    """
    major = rds_majors(engine).get(major_of(engine, version))
    if major is None:
        return
    ended = major.until if major.has_ended(on) else major.minors.get(version)
    if ended is not None and ended < on:
        name = major_of(engine, version) if ended == major.until else version
        problem = f"RDS's support of {words.ENGINES[engine]} {name} ended on {ended}"
        raise _version_error(engine, version, problem, on, extended_support=extended_support)
    if major.is_extended(on) and not extended_support:
        name = f"{words.ENGINES[engine]} {major_of(engine, version)}"
        problem = (
            f"RDS's standard support of {name} ended on {major.standard_until}, and RDS charges"
            " Extended Support by the vCPU-hour: ask for it by target.extended_support, or choose"
            " another version"
        )
        raise _version_error(engine, version, problem, on, extended_support=False)


def require_known(engine: ManagedEngine, version: str, *, on: date, extended_support: bool) -> None:
    """Refuse a version that this table does not have; used where RDS cannot be asked.

    A major version is accepted if the table has it. A minor version newer than the table is
    refused; naming its major version instead is allowed.

    Raises:
        UsageError: `require_unended` refuses the version, or it is not in the table.
    """
    require_unended(engine, version, on=on, extended_support=extended_support)
    major = rds_majors(engine).get(major_of(engine, version))
    if major is None or not (is_major(engine, version) or version in major.minors):
        name = f"{words.ENGINES[engine]} {version}"
        problem = f"{name} is none of the versions that RDS was known to offer on {AS_OF}"
        raise _version_error(engine, version, problem, on, extended_support=extended_support)


def _version_error(
    engine: ManagedEngine, version: str, problem: str, on: date, *, extended_support: bool
) -> UsageError:
    offered = list_offered_versions(engine, version, on=on, extended_support=extended_support)
    return UsageError(Complaint(("target", "engine_version"), problem, version, offered))


def list_offered_versions(
    engine: ManagedEngine, version: str, *, on: date, extended_support: bool
) -> tuple[str, ...]:
    """List valid versions for an error message: of the same major version, else major versions."""
    majors = {
        name: major
        for name, major in rds_majors(engine).items()
        if not major.has_ended(on) and (extended_support or not major.is_extended(on))
    }
    name = major_of(engine, version)
    return (
        tuple(_list_supported_versions(name, majors[name], on)) if name in majors else tuple(majors)
    )


def _list_supported_versions(name: str, major: Major, on: date) -> Iterator[str]:
    yield name
    for minor, until in major.minors.items():
        if until is None or until >= on:
            yield minor


def find_extended_support_price(
    engine: ManagedEngine, version: str, *, on: date
) -> ExtendedPrice | None:
    """Return the name of the price of a version's Extended Support on a day; None if it has none.

    >>> find_extended_support_price("mysql", "8.0.46", on=date(2028, 8, 1))
    'year-3'
    """
    major = rds_majors(engine).get(major_of(engine, version))
    if major is None or major.standard_until is None or not major.is_extended(on):
        return None
    since = major.standard_until + timedelta(days=1)  # a month's first day, so never February 29
    return "year-3" if on >= since.replace(year=since.year + 2) else "years-1-and-2"


def describe_extended_support(
    engine: ManagedEngine, version: str, *, on: date, asked: bool
) -> str | None:
    """Return a note that RDS charges for Extended Support; None during standard support.

    Args:
        engine: engine of the version.
        version: full version, or a major version.
        on: day on which a database is created.
        asked: whether Extended Support is asked for.
    """
    major = rds_majors(engine).get(major_of(engine, version))
    if major is None or major.standard_until is None or not major.is_extended(on):
        return None
    name = f"{words.ENGINES[engine]} {major_of(engine, version)}"
    since = major.standard_until + timedelta(days=1)
    return (
        f"{name} has been in RDS Extended Support since {since}, which RDS charges by the vCPU-hour"
        f" until {major.extended_until}"
        + (": an item of its own." if asked else "; on AWS, target.extended_support asks for it.")
    )
