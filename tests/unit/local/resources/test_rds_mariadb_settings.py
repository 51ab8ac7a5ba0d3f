import pytest

from plimsoll.errors import UsageError
from plimsoll.local.resources.rds_settings import (
    check_engine,
    evaluate_parameter,
    plan_mariadb_settings,
)
from plimsoll.model.aws.volumes import Volume, limits

GIB = 2**30
LIMITS = limits(Volume(type="io1", size_gib=100, iops=2000), service="rds-mysql")


def test_the_pool_gets_three_quarters_of_the_memory_as_on_rds() -> None:
    settings = plan_mariadb_settings({}, memory_bytes=GIB // 16, limits=LIMITS)
    assert settings["innodb_buffer_pool_size"] == "48M"


def test_page_cleaning_is_matched_to_the_volume() -> None:
    settings = plan_mariadb_settings({}, memory_bytes=GIB, limits=LIMITS)
    assert settings["innodb_io_capacity"] == 1000
    assert settings["innodb_io_capacity_max"] == 2000


def test_the_parameter_group_wins() -> None:
    settings = plan_mariadb_settings(
        {"innodb_buffer_pool_size": "33554432", "max_connections": "12"},
        memory_bytes=GIB,
        limits=LIMITS,
    )
    assert settings["innodb_buffer_pool_size"] == "33554432"
    assert settings["max_connections"] == "12"


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("ON", "ON"),
        ("{DBInstanceClassMemory}", GIB),
        ("{DBInstanceClassMemory*3/4}", GIB * 3 // 4),
        ("{DBInstanceClassMemory/12582880}", GIB // 12582880),
        ("LEAST({DBInstanceClassMemory/9531392},5000)", GIB // 9531392),
        ("LEAST({DBInstanceClassMemory/9531392}, 50)", 50),
        ("GREATEST({DBInstanceClassMemory/64371566592},3)", 3),
        ("SUM({DBInstanceClassMemory/12038},-50003)", GIB // 12038 - 50003),
        ("LEAST(of these,2)", "LEAST(of these,2)"),
    ],
)
def test_rds_formulas_are_worked_out(value: str, result: str | int) -> None:
    assert evaluate_parameter(value, GIB) == result


@pytest.mark.parametrize(
    ("engine", "version"),
    [("mysql", "8.4.6"), ("mysql", "8.4"), ("mariadb", "11.4.5"), ("postgres", "18")],
)
def test_offered_versions_pass(engine: str, version: str) -> None:
    check_engine(engine, version)


@pytest.mark.parametrize(
    ("engine", "version", "told"),
    [
        ("mysql", "99.1", "Cannot find version 99.1 for mysql"),
        ("mariadb", "8.4.6", "Cannot find version 8.4.6 for mariadb"),
        ("mysql", "8.4.latest", "Cannot find version 8.4.latest for mysql"),
        ("postgres", "99.1", "Cannot find version 99.1 for postgres"),
        ("oracle-ee", "19.0", "oracle-ee cannot run on one machine: there are"),
    ],
)
def test_others_are_refused(engine: str, version: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        check_engine(engine, version)
