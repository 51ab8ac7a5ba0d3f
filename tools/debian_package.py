"""Unpack Debian packages into .cache/debian/ without installing them: `debian_package.py NAME...`.

Needs no root: apt keeps its lists in the cache as well. For programs that only tests use. NAME may
list what a package is called in other releases, `libaio1|libaio1t64`; its folder has the first.
"""

import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "debian"


def fetch(packages: list[str]) -> None:
    """Download packages and unpack each into its folder; nothing is done for one that is there."""
    missing = [package for package in packages if not (CACHE / package.split("|")[0]).is_dir()]
    if not missing:
        return
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        needed = ", ".join(missing)
        sys.exit(f"the tests need Debian's {needed}, and apt-get to fetch it: use Debian or Ubuntu")
    for folder in ("lists", "archives"):
        (CACHE / "apt" / folder / "partial").mkdir(parents=True, exist_ok=True)
    _apt_get("update", directory=CACHE)
    for package in missing:
        names = package.split("|")
        unpacked = CACHE / f"{names[0]}.part"
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir()
        known = (name for name in names if _is_known(name))
        _apt_get("download", next(known, names[0]), directory=unpacked)
        (archive,) = unpacked.glob("*.deb")
        subprocess.run(["dpkg", "-x", archive, unpacked], check=True)
        archive.unlink()
        unpacked.rename(CACHE / names[0])


def _is_known(package: str) -> bool:
    shown = subprocess.run(
        ["apt-cache", *_list_options(), "show", package], capture_output=True, check=False
    )
    return shown.returncode == 0


def _list_options() -> list[str]:
    state = CACHE / "apt"
    options = (f"Dir::State::Lists={state}/lists", f"Dir::Cache={state}", "Acquire::Retries=8")
    return [f"-o{option}" for option in options]


def _apt_get(*step: str, directory: Path) -> None:
    done = subprocess.run(
        ["apt-get", "-qq", *_list_options(), *step],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"apt-get {' '.join(step)} failed: {done.stderr.strip()}")


if __name__ == "__main__":
    fetch(sys.argv[1:])
