"""Which versions RDS is known to offer on a day, and what is said of the others."""

from datetime import date
from typing import get_args

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.databases import ManagedEngine
from plimsoll.model.rds_versions import (
    AS_OF,
    describe_extended_support,
    find_extended_support_price,
    is_major,
    major_of,
    rds_majors,
    require_known,
    require_measurable,
    require_unended,
)


@pytest.mark.parametrize(
    ("engine", "version"),
    [("mariadb", "11.4"), ("mariadb", "11.4.10"), ("mariadb", "11.8.6"), ("mariadb", "10.11"),
     ("mysql", "8.4"), ("mysql", "8.4.10"), ("mysql", "8.0"), ("mysql", "5.7"),
     ("postgres", "16"), ("postgres", "17.10"), ("postgres", "18"), ("postgres", "18.4"),
     ("aurora-postgresql", "17.7"), ("aurora-mysql", "8.0"),
     ("aurora-mysql", "8.0.mysql_aurora.3.10.3")],
)  # fmt: skip
def test_what_is_offered_passes(engine: ManagedEngine, version: str) -> None:
    require_known(engine, version, on=AS_OF, extended_support=True)


@pytest.mark.parametrize(
    ("engine", "version", "problem", "allowed"),
    [
        ("mariadb", "11.4.5", "RDS's support of MariaDB 11.4.5 ended on 2026-05-31",
         ("11.4", "11.4.10")),
        ("mariadb", "11.4.9", "RDS's support of MariaDB 11.4.9 ended on 2026-10-31",
         ("11.4", "11.4.10")),
        ("mysql", "8.4.6", "RDS's support of MySQL 8.4.6 ended on 2026-09-30",
         ("8.4", "8.4.10", "8.4.9", "8.4.8", "8.4.7")),
        ("mariadb", "10.6", "RDS's support of MariaDB 10.6 ended on 2026-08-31",
         ("11.8", "11.4", "10.11")),
        ("mariadb", "10.6.22", "RDS's support of MariaDB 10.6 ended on 2026-08-31",
         ("11.8", "11.4", "10.11")),
        ("postgres", "16.8", "RDS's support of PostgreSQL 16.8 ended on 2026-05-31",
         ("16", "16.14", "16.13", "16.12", "16.11", "16.10", "16.9")),
    ],
)  # fmt: skip
def test_what_is_past_its_end_is_refused_with_the_day_and_what_there_is(
    engine: ManagedEngine, version: str, problem: str, allowed: tuple[str, ...]
) -> None:
    for check in (require_unended, require_known):
        with pytest.raises(UsageError) as refused:
            check(engine, version, on=AS_OF, extended_support=False)
        (complaint,) = refused.value.complaints
        assert complaint.field == "target.engine_version"
        assert (complaint.value, complaint.problem) == (version, problem)
        assert complaint.allowed == allowed


@pytest.mark.parametrize(
    ("engine", "version"),
    [
        ("mariadb", "11.4.99"),
        ("mariadb", "99.1"),
        ("mysql", "9.7"),
        ("postgres", "18.99"),
        ("postgres", "19"),
    ],
)
def test_what_is_not_in_the_table_is_refused_only_where_rds_is_not_asked(
    engine: ManagedEngine, version: str
) -> None:
    require_unended(engine, version, on=AS_OF, extended_support=False)
    with pytest.raises(UsageError, match=f"{version} is none of the versions"):
        require_known(engine, version, on=AS_OF, extended_support=False)


def test_a_version_is_offered_to_the_end_of_its_last_day() -> None:
    require_known("mariadb", "11.8.5", on=date(2026, 11, 30), extended_support=False)
    with pytest.raises(UsageError, match="ended on 2026-11-30"):
        require_known("mariadb", "11.8.5", on=date(2026, 12, 1), extended_support=False)
    with pytest.raises(UsageError, match=r"MySQL 8\.0 ended on 2029-07-31"):
        require_known("mysql", "8.0", on=date(2029, 8, 1), extended_support=True)


def test_a_version_past_its_standard_support_is_refused_unless_it_may_cost() -> None:
    require_known("mysql", "8.0", on=date(2026, 7, 31), extended_support=False)
    require_unended("mysql", "8.0.46", on=AS_OF, extended_support=True)
    for check in (require_unended, require_known):
        with pytest.raises(UsageError) as refused:
            check("mysql", "8.0.46", on=AS_OF, extended_support=False)
        (complaint,) = refused.value.complaints
        assert complaint.field == "target.engine_version"
        assert complaint.problem == (
            "RDS's standard support of MySQL 8.0 ended on 2026-07-31, and RDS charges Extended"
            " Support by the vCPU-hour: ask for it by target.extended_support, or choose another"
            " version"
        )
        assert complaint.allowed == ("8.4",)


@pytest.mark.parametrize(
    ("engine", "version", "on", "price"),
    [
        ("mysql", "8.0.46", date(2026, 7, 31), None),
        ("mysql", "8.0.46", date(2026, 8, 1), "years-1-and-2"),
        ("mysql", "8.0.46", date(2028, 7, 31), "years-1-and-2"),
        ("mysql", "8.0.46", date(2028, 8, 1), "year-3"),
        ("mysql", "5.7.44", date(2026, 3, 1), "year-3"),
        ("mysql", "8.4", AS_OF, None),
        ("postgres", "16.14", date(2029, 3, 1), "years-1-and-2"),
        ("aurora-mysql", "8.0.mysql_aurora.3.10.3", AS_OF, None),
        ("aurora-mysql", "8.0.mysql_aurora.3.10.3", date(2029, 7, 31), "years-1-and-2"),
        ("mariadb", "10.6", AS_OF, None),
        ("mysql", "99.1", AS_OF, None),
    ],
)
def test_extended_support_costs_twice_as_much_from_its_third_year(
    engine: ManagedEngine, version: str, on: date, price: str | None
) -> None:
    assert find_extended_support_price(engine, version, on=on) == price


def test_extended_support_is_named_where_it_costs() -> None:
    assert describe_extended_support("mysql", "8.0.46", on=date(2026, 7, 31), asked=True) is None
    note = describe_extended_support("mysql", "8.0.46", on=AS_OF, asked=True)
    assert note is not None
    assert "MySQL 8.0 has been in RDS Extended Support since 2026-08-01" in note
    assert note.endswith("until 2029-07-31: an item of its own.")
    not_asked = describe_extended_support("mysql", "8.0.46", on=AS_OF, asked=False)
    assert not_asked is not None
    assert not_asked.endswith("on AWS, target.extended_support asks for it.")
    assert describe_extended_support("mysql", "8.4", on=AS_OF, asked=True) is None
    assert describe_extended_support("mariadb", "10.6", on=AS_OF, asked=False) is None


def test_a_major_version_of_postgresql_is_one_number() -> None:
    assert major_of("postgres", "11.4") == "11"
    assert major_of("mariadb", "11.4.10") == "11.4"
    assert [is_major("postgres", version) for version in ("18", "18.4")] == [True, False]
    assert [is_major("mysql", version) for version in ("8.4", "8.4.10")] == [True, False]
    assert major_of("aurora-mysql", "8.0.mysql_aurora.3.10.3") == "8.0"


@pytest.mark.parametrize(
    ("engine", "version", "problem"),
    [
        ("mysql", "8", "a version of MySQL is written 8.4 or 8.4.10"),
        ("postgres", "18.4.1", "a version of PostgreSQL is written 18 or 18.4"),
        ("postgres", "15.18", "PostgreSQL can be measured from 16 on"),
        ("aurora-postgresql", "15.18", "Aurora PostgreSQL can be measured from 16 on"),
        ("aurora-mysql", "3", "Aurora MySQL is written 8.4 or 8.4.mysql_aurora.8.4.7"),
    ],
)
def test_what_is_no_version_that_can_be_measured_is_refused_with_what_can(
    engine: ManagedEngine, version: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        require_measurable(engine, version, ("engine_version",))
    (complaint,) = refused.value.complaints
    assert complaint.field == "engine_version"
    alive = [name for name, major in rds_majors(engine).items() if not major.has_ended(AS_OF)]
    assert complaint.allowed == tuple(alive)


@pytest.mark.parametrize("engine", get_args(ManagedEngine))
def test_the_table_is_in_order(engine: ManagedEngine) -> None:
    for name, major in rds_majors(engine).items():
        assert {major_of(engine, minor) for minor in major.minors} <= {name}
        if major.until is None:
            assert set(major.minors.values()) <= {None}
            continue
        assert major.standard_until is not None
        assert major.until >= major.standard_until
        assert all(until is None or until <= major.until for until in major.minors.values())
