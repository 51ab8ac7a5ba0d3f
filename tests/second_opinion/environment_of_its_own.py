"""What the second opinion needs and the project does not: where it is, and how it gets there.

Run as `python -m tests.second_opinion.environment_of_its_own` by `make check-aws`: a virtual
environment of Python 3.13 with LocalStack and one with checkov, JSONata's jars for the former, one
with ministack and the Python of the project, and an IAM simulator for Node.js, all below
`.cache/second-opinion`, each pinned by a hash in `environment/`.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from plimsoll.cache import open_cache_directory
from plimsoll.errors import MissingToolError, PlimsollError
from plimsoll.local.databases.maven import run_maven

PINNED = Path(__file__).parent / "environment"
PYTHON_RELEASE = "3.13"
HOW_TO_GET_PYTHON = (
    f"uv python install {PYTHON_RELEASE}, or say where it is: PYTHON313=/path/to/python3.13"
)
_MAVEN_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


def home() -> Path:
    """The folder of all that was fetched."""
    return open_cache_directory() / "second-opinion"


def python() -> Path:
    """The Python that has LocalStack."""
    return home() / "venv/bin/python"


def emulator_python() -> Path:
    """The Python that has ministack; its functions run in it, and are packaged for this one."""
    return home() / "ministack/bin/python"


def checkov() -> Path:
    """The command of checkov."""
    return home() / "checkov/bin/checkov"


def jars() -> Path:
    """The folder with JSONata's jars."""
    return home() / "jars"


def fetch() -> None:
    """Fetch what is missing.

    Raises:
        MissingToolError: Python 3.13, Node.js or Maven is not there; says how to get it.
        PlimsollError: Something could not be fetched, or is not what was pinned.
    """
    home().mkdir(parents=True, exist_ok=True)
    base = find_python()
    _make_venv(python(), base, "requirements.txt")
    _make_venv(emulator_python(), Path(sys.executable), "ministack.txt")
    _make_venv(checkov().with_name("python"), base, "checkov.txt")
    _fetch_jars()
    _fetch_simulator()


def find_python() -> Path:
    """Find Python 3.13: of `PYTHON313`, on PATH, or where uv or pyenv put it.

    Raises:
        MissingToolError: There is none; says how to get it.
    """
    for candidate in _pythons():
        if _is_wanted(candidate):
            return candidate
    raise MissingToolError(
        f"LocalStack's interpreter needs Python {PYTHON_RELEASE}, which is not on this machine;"
        f" get it: {HOW_TO_GET_PYTHON}"
    )


def _pythons() -> Iterator[Path]:
    if chosen := os.environ.get("PYTHON313"):
        yield Path(chosen)
    if on_path := shutil.which(f"python{PYTHON_RELEASE}"):
        yield Path(on_path)
    user = Path.home()
    for folder in (".pyenv/versions", ".local/share/uv/python"):
        yield from sorted((user / folder).glob(f"*{PYTHON_RELEASE}.*/bin/python{PYTHON_RELEASE}"))


def _is_wanted(candidate: Path) -> bool:
    ask = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    try:
        done = subprocess.run([candidate, "-c", ask], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.stdout.strip() == PYTHON_RELEASE


def _make_venv(made: Path, base: Path, pinned: str) -> None:
    """Make a virtual environment of a Python, with what a file in `environment/` pins."""
    uv = Path(sys.executable).parent / "uv"
    if not made.exists():
        _run(uv, "venv", "--quiet", "--clear", "--python", base, made.parents[1])
    _run(uv, "pip", "sync", "--quiet", "--require-hashes", "--python", made, PINNED / pinned)


def _fetch_jars() -> None:
    if jars().is_dir():
        return
    part = jars().with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    shutil.copy(PINNED / "pom.xml", part)
    run_maven(
        "JSONata for Java",
        _MAVEN_GOAL,
        "-DincludeScope=runtime",
        f"-DoutputDirectory={part}",
        folder=part,
        how_to_get="apt-get install maven",
    )
    (part / "pom.xml").unlink()
    found = {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in part.iterdir()}
    lines = (PINNED / "jars.sha256").read_text().splitlines()
    if found != {name: digest for digest, name in map(str.split, lines)}:
        raise PlimsollError(
            f"the jars fetched for the second opinion are not those pinned: {found}"
        )
    part.rename(jars())


def _fetch_simulator() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise MissingToolError("the IAM simulator needs Node.js 20: apt-get install nodejs npm")
    folder = home() / "node"
    folder.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINNED / name, folder)
    _run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", at=folder)


def _run(*command: str | Path, at: Path | None = None) -> None:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PlimsollError(f"{Path(command[0]).name} failed: {done.stderr.strip()[-500:]}")


if __name__ == "__main__":
    try:
        fetch()
    except PlimsollError as failure:
        sys.exit(f"plimsoll: {failure}")
