"""What holds for every test."""

from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no failure: how long an example takes is measured in benchmarks/, not here.
settings.register_profile("plimsoll", deadline=None)
settings.load_profile("plimsoll")

ROOT = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep together, under `--dist loadgroup`, what shares something costly."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group(item.path.relative_to(ROOT))))


def group(file: Path) -> str:
    """Name what goes to one worker: a file, or all that shares more than a file does."""
    if file.parts[0] in {"infrastructure", "browser"}:
        return file.parts[0]  # one synthesis of every template, one Chromium
    if file.parts[0] == "local" and file.stem in {"test_cassandra", "test_cassandra_target"}:
        return "cassandra"  # one server of a gigabyte at a time
    return str(file.with_suffix(""))
