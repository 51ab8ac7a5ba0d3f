import pytest

from plimsoll.local.resources.rds_settings import plan_postgres

GIB = 2**30
CLASS = 8 * GIB  # a db.m5.large
MEMORY = CLASS // 128


def of(**parameters: str) -> dict[str, str | int]:
    return plan_postgres(parameters, memory_bytes=MEMORY, class_memory_bytes=CLASS).settings


def test_the_shared_buffers_get_a_quarter_of_the_memory_as_on_rds() -> None:
    assert of()["shared_buffers"] == 16 * 2**20 // 8192


def test_there_are_as_many_connections_as_the_class_has_on_rds() -> None:
    assert of()["max_connections"] == CLASS // 9531392


def test_the_parameter_group_wins() -> None:
    settings = of(shared_buffers="{DBInstanceClassMemory*3/32768}", work_mem="4096")
    assert settings["shared_buffers"] == 48 * 2**20 // 8192
    assert settings["work_mem"] == "4096"


@pytest.mark.parametrize(
    ("shared_buffers", "page_cache_mib"),
    [(None, 32), ("1024", 40), ("24MB", 24), ("24576 kB", 24), ("40MB", 8), ("1GB", 1)],
)
def test_the_page_cache_gets_what_is_left_of_three_quarters(
    shared_buffers: str | None, page_cache_mib: int
) -> None:
    given = {} if shared_buffers is None else {"shared_buffers": shared_buffers}
    planned = plan_postgres(given, memory_bytes=MEMORY, class_memory_bytes=CLASS)
    assert planned.page_cache_mib == page_cache_mib


def test_a_small_class_has_buffers_enough_for_its_connections() -> None:
    planned = plan_postgres({}, memory_bytes=GIB // 128, class_memory_bytes=GIB)
    assert planned.settings["shared_buffers"] == 1024
    assert planned.page_cache_mib == 1


@pytest.mark.parametrize(("value", "demanded"), [(None, True), ("1", True), ("0", False)])
def test_tls_is_demanded_unless_the_group_says_otherwise(value: str | None, demanded: bool) -> None:
    given = {} if value is None else {"rds.force_ssl": value}
    planned = plan_postgres(given, memory_bytes=MEMORY, class_memory_bytes=CLASS)
    assert planned.demands_tls is demanded
