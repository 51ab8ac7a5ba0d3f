"""Unpack a Debian package into .cache/debian/ without installing it: `debian_package.py NAME`.

Needs no root: apt keeps its lists in the cache as well. For programs that only tests use.
"""

import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "debian"


def fetch(package: str) -> Path:
    """Download a package and unpack it; return its folder. Nothing is done if it is there."""
    folder = CACHE / package
    if folder.is_dir():
        return folder
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        sys.exit(
            f"the tests need Debian's {package}, and apt-get to fetch it: use Debian or Ubuntu"
        )
    state = CACHE / "apt"
    (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (state / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    options = ["-o", f"Dir::State::Lists={state}/lists", "-o", f"Dir::Cache={state}"]
    unpacked = CACHE / f"{package}.part"
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()
    for step in (["update"], ["download", package]):
        done = subprocess.run(
            ["apt-get", "-qq", *options, *step],
            cwd=unpacked,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"apt-get {' '.join(step)} failed: {done.stderr.strip()}")
    (archive,) = unpacked.glob("*.deb")
    subprocess.run(["dpkg", "-x", archive, unpacked], check=True)
    archive.unlink()
    unpacked.rename(folder)
    return folder


if __name__ == "__main__":
    for name in sys.argv[1:]:
        fetch(name)
