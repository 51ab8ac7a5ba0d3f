"""Holds what is locked against public advisories, and says what could not be checked: `make audit`.

    .venv/bin/python -m tools.audit                # clones the two databases, or updates them
    .venv/bin/python -m tools.audit --offline      # as they lie in .cache/advisories/

Crates are held against RustSec's advisory-db, Python packages against the Python Packaging
Authority's advisory-database: repositories of one small file for each advisory. A clone laid at
`.cache/advisories/crates` or `.cache/advisories/python` by other means serves a machine that
reaches neither. npm's packages: `npm audit`, which asks the registry. Exit code 1: something is
affected; 3: nothing is, of what could be checked, and something could not, or not against
advisories of the last month.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
CLONES = ROOT / ".cache/advisories"
SOURCES = {
    "crates": "https://github.com/rustsec/advisory-db",
    "python": "https://github.com/pypa/advisory-database",
}
PYTHON_LOCKS = (
    "requirements-dev.txt",
    "tests/second_opinion/environment/checkov.txt",
    "tests/second_opinion/environment/ministack.txt",
    "tests/second_opinion/environment/requirements.txt",
    "tools/coverage.txt",
    "tools/generators.txt",
)
AFFECTED, UNCHECKED = 1, 3  # exit codes
OLD_DAYS = 31


@dataclass(frozen=True)
class Finding:
    """An advisory that a locked package falls under."""

    package: str
    version: str
    advisory: str
    kind: str  # "vulnerability", or what else it informs of: "unmaintained", "unsound"


def crates(lock: str) -> dict[str, set[str]]:
    """Read the versions of each crate of a Cargo.lock; its own packages have no source."""
    packages = tomllib.loads(lock)["package"]
    found: dict[str, set[str]] = {}
    for package in (package for package in packages if "source" in package):
        found.setdefault(package["name"], set()).add(package["version"])
    return found


def python_packages(lock: str) -> dict[str, set[str]]:
    """Read the versions of each package of a requirements file with `==` and hashes."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==([^\s;\\]+)", lock, re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def of_crates(advisories: Sequence[str], locked: Mapping[str, set[str]]) -> Iterator[Finding]:
    """Find the crates that RustSec's advisories (TOML, then prose) do not call patched or safe."""
    for text in advisories:
        told = tomllib.loads(text.split("```toml", 1)[1].split("```", 1)[0])
        advisory, versions = told["advisory"], told.get("versions", {})
        if "withdrawn" in advisory:
            continue
        safe = [*versions.get("patched", ()), *versions.get("unaffected", ())]
        for version in sorted(locked.get(advisory["package"], ())):
            if not any(cargo_allows(requirement, version) for requirement in safe):
                kind = advisory.get("informational", "vulnerability")
                yield Finding(advisory["package"], version, advisory["id"], kind)


def cargo_allows(requirement: str, version: str) -> bool:
    """Say whether a version meets a requirement as Cargo writes them: `^1.2`, `~1.2`, `>=1, <2`."""
    return all(
        Version(version) in SpecifierSet(_specifier(part.strip()), prereleases=True)
        for part in requirement.split(",")
    )


def _specifier(part: str) -> str:
    """Write one comparator of Cargo's as Python's packages do."""
    sign, number = re.fullmatch(r"([<>=^~]*)\s*(.+)", part).groups()  # type: ignore[union-attr]  # it always matches
    if sign in {"<", ">", "<=", ">="}:
        return f"{sign}{number}"
    if sign == "=":
        return f"=={number}"
    release = Version(number).release
    if sign == "~":
        fixed = min(len(release), 2)
    else:  # a caret, also where nothing stands: up to the first number that is not 0
        fixed = next((i for i, n in enumerate(release, 1) if n), len(release))
    above = [*release[: fixed - 1], release[fixed - 1] + 1]
    return f">={number},<{'.'.join(map(str, above))}"


def of_python(advisories: Sequence[str], locked: Mapping[str, set[str]]) -> Iterator[Finding]:
    """Find the packages that advisories in OSV's format (ossf.github.io/osv-schema) name."""
    for text in advisories:
        told = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
        for affected in () if "withdrawn" in told else told.get("affected", ()):
            package = canonicalize_name(affected["package"]["name"])
            for version in sorted(locked.get(package, ())):
                if osv_names(affected, version):
                    yield Finding(package, version, told["id"], "vulnerability")


def osv_names(affected: Mapping[str, Any], version: str) -> bool:
    """Say whether a version is listed, or lies in a range: introduced at or below it, not fixed."""
    if version in affected.get("versions", ()):
        return True
    ranges = [r for r in affected.get("ranges", ()) if r["type"] == "ECOSYSTEM"]
    return any(_within(one["events"], Version(version)) for one in ranges)


def _within(events: Sequence[Mapping[str, str]], version: Version) -> bool:
    moments = sorted(
        (Version("0") if at == "0" else Version(str(at)), event)
        for pair in events
        for event, at in pair.items()
        if event in {"introduced", "fixed"}
    )
    passed = [event for at, event in moments if at <= version]
    return bool(passed) and passed[-1] == "introduced"


def _texts(clone: Path, names: str) -> list[str]:
    return [file.read_text() for file in sorted(clone.glob(names))]


def _database(name: str, *, offline: bool) -> date | None:
    """Bring a clone up to date; says of when it is, None where there is none."""
    clone = CLONES / name
    if not offline:
        fresh = ["clone", "--quiet", "--depth", "1", SOURCES[name], str(clone)]
        later = ["-C", str(clone), "pull", "--quiet", "--ff-only"]
        subprocess.run(["git", *(later if clone.is_dir() else fresh)], check=False)
    if not clone.is_dir():
        return None
    command = ["git", "-C", str(clone), "log", "-1", "--format=%cs"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return date.fromisoformat(shown.strip())


def _of_npm() -> list[Finding] | None:
    """Ask npm's registry; None where it does not answer."""
    command = ["npm", "audit", "--json", "--package-lock-only"]
    answer = json.loads(
        subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True).stdout
    )
    if "vulnerabilities" not in answer:
        return None
    return [
        Finding(name, told["range"], ", ".join(str(v) for v in told["via"] if v), told["severity"])
        for name, told in answer["vulnerabilities"].items()
    ]


def main() -> int:
    """Check what can be checked, and say so of each kind."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--offline", action="store_true", help="take the clones as they are")
    offline = parser.parse_args().offline
    locked_crates = crates((ROOT / "engine/Cargo.lock").read_text())
    locked_python = python_packages("\n".join((ROOT / lock).read_text() for lock in PYTHON_LOCKS))
    findings: list[Finding] = []
    unchecked = 0
    for name, locked, files, find in (
        ("crates", locked_crates, "crates/*/RUSTSEC-*.md", of_crates),
        ("python", locked_python, "vulns/*/PYSEC-*.yaml", of_python),
    ):
        as_of = _database(name, offline=offline)
        if as_of is None:
            unchecked += 1
            print(f"{name}: NOT CHECKED: no copy of {SOURCES[name]} in {CLONES / name}")
            continue
        old = datetime.now(UTC).date() - as_of > timedelta(days=OLD_DAYS)
        unchecked += old
        findings += find(_texts(CLONES / name, files), locked)
        since = ", NOT against later ones" if old else ""
        print(f"{name}: {len(locked)} held against the advisories up to {as_of}{since}")
    from_npm = _of_npm()
    if from_npm is None:
        unchecked += 1
        print("npm: NOT CHECKED: the registry does not answer `npm audit`")
    else:
        findings += from_npm
        print("npm: held against the registry's advisories")
    for one in findings:
        print(f"{one.package} {one.version}: {one.advisory} ({one.kind})")
    print(f"{len(findings)} affected; {unchecked} of 3 kinds could not be checked in full")
    return AFFECTED if findings else UNCHECKED if unchecked else 0


if __name__ == "__main__":
    sys.exit(main())
