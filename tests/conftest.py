"""What holds for every test."""

import gc
from collections.abc import Generator
from pathlib import PurePosixPath

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# their assertions show values, too, as those in the tests themselves do
pytest.register_assert_rewrite("tests.support", "tests.local.load.stalls")

# A busy machine is no failure: how long an example takes is measured in benchmarks/, not here. The
# code alone decides what fails; other examples: `pytest --hypothesis-profile explore`.
settings.register_profile("plimsoll", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("plimsoll")

# Of `tests/`, what shares something costly: templates, a browser, a twin, a Cassandra of 1 GiB.
CASSANDRA = {"cassandra", "test_cassandra", "test_cassandra_server", "test_cassandra_target"}
TOGETHER = ("infrastructure", "browser", "local/aws", "local/runs", "local/service")
ALONE = "local"  # where `make test` looks for tests that are marked so
LONGEST_FIRST = ("cassandra", "local/runs", "infrastructure", "local/service")


def group(nodeid: str) -> str:
    """Name what goes to one worker under `--dist loadscope`: a file, or all that it shares with."""
    file = PurePosixPath(nodeid.partition("::")[0]).relative_to("tests")
    if file.parts[0] == "local" and CASSANDRA & {file.stem, file.parent.name}:
        return "cassandra"
    return next((folder for folder in TOGETHER if file.is_relative_to(folder)), str(file))


class ByGroup(LoadScopeScheduling):  # type: ignore[misc]  # it carries no types
    """Keeps together what shares something (xdist's own groups need an older pytest)."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByGroup | None:
    """Share groups, where whole scopes are to be shared."""
    return ByGroup(config, log) if config.getvalue("dist") == "loadscope" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no worker is left with it in the end.

    Raises:
        UsageError: A test is marked `alone` where `make test` would not find it.
    """
    for item in items:
        file = PurePosixPath(item.nodeid.partition("::")[0]).relative_to("tests")
        if item.get_closest_marker("alone") and not file.is_relative_to(ALONE):
            raise pytest.UsageError(f"{file}: tests marked `alone` belong in tests/{ALONE}/")
    rank = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: rank.get(group(item.nodeid), len(rank)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage once all is imported, and not in that."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
