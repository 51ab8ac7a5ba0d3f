"""The distributions that a function's package needs, found from its handler's imports.

They are read from the code, so that no list has to be kept: the imports of the handler and of every
module of Plimsoll that it reaches, and then what those distributions themselves require.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from plimsoll.model.deployment.functions import Function

ROOT = Path(__file__).parents[1]
ENGINE = "plimsoll_engine"
# Markers of requirements that hold on every platform of the packages.
LINUX = {
    "platform_system": "Linux",
    "sys_platform": "linux",
    "os_name": "posix",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}


def handler_path(row: Function) -> Path:
    """Return the path of a function's handler."""
    return ROOT / "functions" / row.folder / "handler.py"


def find_packages(path: Path) -> frozenset[str]:
    """Return the top-level packages outside of Plimsoll that a file reaches."""
    return frozenset(name.split(".")[0] for name in find_imports(path))


def find_imports(path: Path) -> frozenset[str]:
    """Return everything outside of Plimsoll that a file reaches: modules, and names from them.

    `from numpy.random import Generator` gives `numpy.random` and `numpy.random.Generator`.
    """
    imported = (name for file in find_module_files(path) for name in _read_imports(file))
    return frozenset(name for name in imported if name.split(".")[0] != "plimsoll")


@cache
def find_module_files(path: Path) -> frozenset[Path]:
    """Return the files of Plimsoll that a file reaches by imports, including itself."""
    seen: set[Path] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            waiting += [module for name in _read_imports(file) for module in _find_files(name)]
    return frozenset(seen)


@cache
def _read_imports(file: Path) -> tuple[str, ...]:
    return tuple(_list_imports(ast.parse(file.read_text())))


def _list_imports(tree: ast.AST) -> Iterator[str]:
    """Yield every module imported at run time, also within functions, but not for types only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield from _list_imports(node)


@cache
def _find_files(module: str) -> tuple[Path, ...]:
    """Return the files of a module and of its parent packages; none if it is a mere name."""
    parts = module.split(".")
    if parts[0] != "plimsoll":
        return ()
    files: list[Path] = []
    for length in range(1, len(parts) + 1):
        base = ROOT.joinpath(*parts[:length])
        files += [p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()]
    return tuple(files)


@cache
def find_distributions(path: Path, python_version: str, processor: str) -> frozenset[str]:
    """Return the distributions to install for a handler, with everything that they require.

    Args:
        path: The handler.
        python_version: The runtime's version, such as 3.13.
        processor: The architecture that it runs on, such as aarch64.
    """
    provided = _map_packages()
    wanted = [
        canonicalize_name(provided[root][0])
        for root in find_packages(path)
        if root in provided and root not in {ENGINE, "plimsoll"}
    ]
    environment = {**LINUX, "python_version": python_version, "platform_machine": processor}
    needed: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in needed:
            continue
        needed.add(name)
        for requirement in _read_requirements(name):
            required = canonicalize_name(requirement.name)
            markers = [requirement.marker, _read_overrides().get(required, requirement).marker]
            for extra in ("", *_read_extras().get(name, ())):
                here = {**environment, "extra": extra}
                if all(marker is None or marker.evaluate(here) for marker in markers):
                    wanted.append(required)
    return frozenset(needed)


@cache
def _map_packages() -> Mapping[str, list[str]]:
    """Map each top-level package to its distributions; this reads the record of each one."""
    return packages_distributions()


@cache
def _read_requirements(name: str) -> tuple[Requirement, ...]:
    return tuple(Requirement(line) for line in distribution(name).requires or [])


@cache
def _read_extras() -> dict[str, set[str]]:
    """Return the extras that we require of each distribution, which imports do not show."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    given = [Requirement(line) for line in project["dependencies"]]
    return {canonicalize_name(requirement.name): requirement.extras for requirement in given}


@cache
def _read_overrides() -> dict[str, Requirement]:
    """Return the requirements that override those of some distributions."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
    given = map(Requirement, settings.get("override-dependencies", []))
    return {canonicalize_name(requirement.name): requirement for requirement in given}
