"""Builds the functions' packages without containers, from wheels that uv selects by the lock."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from platform import machine

from plimsoll.errors import MissingToolError, PlimsollError
from plimsoll.model.deployment.functions import Function
from stacks.imports import ENGINE, ROOT, find_distributions, find_packages, handler_path

LOCK = ROOT / "requirements.txt"
FUNCTIONS_FOLDER = ROOT / "functions"
CACHE = ROOT / ".cache"
BIN = Path(sys.executable).parent
# Files that installers write into a distribution's `*.dist-info`. They differ between builds:
# times, temporary folders, the commands' first lines, the number of a list of crates.
_NOTES = ("uv_cache.json", "direct_url.json", "RECORD", "sboms/plimsoll_engine.cyclonedx.json")
_ENTRY = re.compile(r"^(?=([a-z0-9-]+)==)((?:.+\n)(?:[ #].*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Platform:
    """The platform that a package is built for."""

    python_version: str
    uv_platform: str | None  # None if it is this machine
    rust_target: str | None  # None if it is this machine

    @property
    def processor(self) -> str:
        """The processor's architecture, as Python names it: `aarch64` or `x86_64`."""
        return self.rust_target.split("-")[0] if self.rust_target else machine()


AWS_LAMBDA = Platform("3.14", "aarch64-manylinux_2_28", "aarch64-unknown-linux-gnu")
MANYLINUX = (
    Platform("3.11", None, "x86_64-unknown-linux-gnu"),
    AWS_LAMBDA,
)  # users install wheels for these
THIS_MACHINE = Platform(f"{sys.version_info.major}.{sys.version_info.minor}", None, None)


@dataclass(frozen=True)
class Kind:
    """The content of a package besides Plimsoll itself."""

    name: str
    needs: frozenset[str]
    engine: bool

    def serves(self, other: "Kind") -> bool:
        """Return whether a function that needs `other` can use this package."""
        return other.needs <= self.needs and other.engine <= self.engine


def find_need(row: Function, platform: Platform) -> Kind:
    """Determine what one function's package must hold."""
    path = handler_path(row)
    needs = find_distributions(path, platform.python_version, platform.processor)
    return Kind(row.name, needs, ENGINE in find_packages(path))


def choose_kinds(rows: Iterable[Function], platform: Platform) -> dict[str, Kind]:
    """Choose a package for each function, by the function's name.

    The load client starts a thousand at a time, so its package holds only what it needs; functions
    that need no more share it. The others share one package for each set of extras, named after
    them, or `analysis` without extras.
    """
    rows = list(rows)
    needs = {row.name: find_need(row, platform) for row in rows}
    lean = replace(needs["load-client"], name="load")
    groups: dict[str, list[Kind]] = {}
    for row in rows:
        if not lean.serves(needs[row.name]):
            name = "-".join(row.extras) or "analysis"
            groups.setdefault(name, []).append(needs[row.name])
    full = {
        name: Kind(
            name,
            frozenset().union(*(need.needs for need in group)),
            any(need.engine for need in group),
        )
        for name, group in groups.items()
    }
    return {
        row.name: lean if lean.serves(needs[row.name]) else full["-".join(row.extras) or "analysis"]
        for row in rows
    }


def build_package(kind: Kind, destination: Path, platform: Platform) -> None:
    """Build a package into a folder.

    Two builds of the same sources have identical files, so that `cdk deploy` replaces a function's
    code only if something has changed.

    Raises:
        PlimsollError: A tool failed; its message is on standard error.
    """
    with tempfile.TemporaryDirectory(prefix="plimsoll-package-") as folder:
        requirements = Path(folder, "requirements.txt")
        requirements.write_text(copy_locked(kind.needs))
        _install(destination, platform, "--require-hashes", "--requirement", str(requirements))
    wheels = [build_plimsoll_wheel(), *([find_engine_wheel(platform)] if kind.engine else [])]
    _install(destination, platform, *map(str, wheels))
    for handler in sorted(FUNCTIONS_FOLDER.glob("*/handler.py")):
        place = destination / handler.relative_to(ROOT)
        place.parent.mkdir(parents=True)
        shutil.copyfile(handler, place)
    _remove_unread(destination)


def copy_locked(names: Iterable[str]) -> str:
    """Copy the entries of some distributions from the lock, with their hashes.

    Raises:
        PlimsollError: The lock lacks one of the names.
    """
    entries: dict[str, str] = {}  # a distribution may have an entry for each of several Pythons
    for name, entry in _ENTRY.findall(LOCK.read_text()):
        entries[name] = entries.get(name, "") + entry
    missing = sorted(set(names) - set(entries))
    if missing:
        raise PlimsollError(f"not in requirements.txt: {', '.join(missing)} (see `make lock`)")
    return "".join(entries[name] for name in sorted(names))


def _install(destination: Path, platform: Platform, *what: str) -> None:
    where = ["--python-platform", platform.uv_platform] if platform.uv_platform else []
    options = ["--quiet", "--no-deps", "--only-binary", ":all:"]
    place: list[str | Path] = ["--target", destination, "--python-version", platform.python_version]
    _run([BIN / "uv", "pip", "install", *options, *place, *where, *what])


@cache
def build_plimsoll_wheel() -> Path:
    """Build Plimsoll's own wheel without the engine; otherwise it is as for users."""
    folder = CACHE / "wheels-plimsoll"
    shutil.rmtree(folder, ignore_errors=True)
    _run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        PLIMSOLL_ENGINE="none",  # functions that need the engine get its own wheel
    )
    return next(folder.glob("plimsoll_db-*.whl"))


@cache
def find_engine_wheel(platform: Platform) -> Path:
    """Return this machine's engine wheel, or build one for another platform, with zig as linker.

    Raises:
        MissingToolError: A tool for the other architecture is missing; says how to get it.
    """
    if platform.rust_target is None:
        wheels = (CACHE / "wheels").glob("plimsoll_engine-*.whl")  # `make setup` built it
        return max(wheels, key=lambda wheel: wheel.stat().st_mtime)
    _require_rust_target(platform.rust_target)
    folder = CACHE / f"wheels-{platform.rust_target}"
    shutil.rmtree(folder, ignore_errors=True)
    command: list[str | Path] = [BIN / "maturin", "build", "--quiet", "--release", "--locked"]
    command += ["--strip", "--manifest-path", ROOT / "engine" / "Cargo.toml", "--out", folder]
    command += ["--zig", "--target", platform.rust_target, "--compatibility", "manylinux2014"]
    _run(command)
    return next(folder.glob("plimsoll_engine-*.whl"))


def _require_rust_target(target: str) -> None:
    libraries = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", target],
        capture_output=True,
        text=True,
        check=False,
    )
    if libraries.returncode or not Path(libraries.stdout.strip()).is_dir():
        raise MissingToolError(
            f"Rust cannot build for {target} yet: rustup target add {target}, then make package"
        )
    if not (CACHE / "zig" / "ziglang").is_dir():
        raise MissingToolError("the linker is missing: make package installs it")


def _run(command: list[str | Path], **variables: str) -> None:
    environment = {
        **os.environ,
        **variables,
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(CACHE / "zig"),
    }
    done = subprocess.run(
        [str(part) for part in command], cwd=ROOT, env=environment, stdout=sys.stderr, check=False
    )
    if done.returncode:
        raise PlimsollError(f"{Path(command[0]).name} failed with exit code {done.returncode}")


def _remove_unread(destination: Path) -> None:
    """Remove what no function reads: caches, commands, libraries' tests, installers' notes."""
    for path in [*destination.rglob("__pycache__"), *destination.glob("*/**/tests")]:
        shutil.rmtree(path, ignore_errors=True)
    shutil.rmtree(destination / "bin", ignore_errors=True)
    for note in _NOTES:
        for path in destination.glob(f"*.dist-info/{note}"):
            path.unlink()


def measure_mib(folder: Path) -> float:
    """Measure a folder in MiB, as Lambda does for its limit of 250 unzipped."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / 2**20
