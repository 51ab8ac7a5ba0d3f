"""Two builds of the same sources are one package: `cdk diff` is empty until something changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    ".gitignore", "LICENSE", "README.md", "engine", "functions", "hatch_build.py", "plimsoll",
    "pyproject.toml", "requirements.txt", "scenarios", "stacks", "statemachines", "workloads",
]  # fmt: skip
BUILD = """
import sys
from pathlib import Path
from plimsoll.model.deployment.functions import FUNCTIONS
from stacks import packaging
platform = getattr(packaging, sys.argv[1])
kind = packaging.choose_kinds(FUNCTIONS.values(), platform)["load-client"]
packaging.build_package(kind, Path(sys.argv[2]), platform)
"""
DAY_S = 86_400


def copy_sources(destination: Path, *, older_by_s: int) -> None:
    """Copy what a package is built from, with files that were last changed so long ago."""
    destination.mkdir(parents=True)
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            left_out = shutil.ignore_patterns("__pycache__", "target")
            shutil.copytree(source, destination / name, ignore=left_out)
        else:
            shutil.copy(source, destination)
    wheels = ROOT / ".cache/wheels"  # `make setup` built the engine for this machine
    shutil.copytree(wheels, destination / ".cache/wheels", copy_function=shutil.copy2)
    for path in destination.rglob("*"):
        changed = path.stat().st_mtime - older_by_s
        os.utime(path, (changed, changed))
    (destination / ".cache/zig").symlink_to(ROOT / ".cache/zig")


def build_twice(folder: Path, platform: str) -> list[Path]:
    """Build the load client's package from two copies of the sources, each in a new process."""
    packages: list[Path] = []
    for name, older_by_s in (("first", 0), ("second", DAY_S)):
        sources = folder / name / "sources"
        copy_sources(sources, older_by_s=older_by_s)
        packages.append(folder / name / "package")
        done = subprocess.run(
            [sys.executable, "-c", BUILD, platform, str(packages[-1])],
            cwd=sources,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return packages


def differing(first: Path, second: Path) -> list[str]:
    """Name the files that are not the same in two folders."""
    names = {
        str(path.relative_to(folder))
        for folder in (first, second)
        for path in folder.rglob("*")
        if path.is_file()
    }
    return sorted(name for name in names if content(first / name) != content(second / name))


def content(file: Path) -> bytes | None:
    """The content of a file; None if it does not exist."""
    return file.read_bytes() if file.is_file() else None


@pytest.mark.parametrize(
    "platform",
    [
        "THIS_MACHINE",
        pytest.param("AWS_LAMBDA", marks=[pytest.mark.whole, pytest.mark.timeout(1800)]),
    ],
)
def test_two_builds_of_the_same_sources_are_one_asset(tmp_path: Path, platform: str) -> None:
    # the CDK starts Node.js, in each worker that collects
    from aws_cdk import FileSystem  # noqa: PLC0415 - as above

    first, second = build_twice(tmp_path, platform)
    assert differing(first, second) == []
    # the hash that names an asset: names and content, neither modes nor times
    assert FileSystem.fingerprint(str(first)) == FileSystem.fingerprint(str(second))
