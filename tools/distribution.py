"""Builds what users install: a source archive, and a wheel with the engine for each platform.

python -m tools.distribution FOLDER
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from stacks.imports import ROOT
from stacks.packaging import MANYLINUX, find_engine_wheel


def build(folder: Path) -> list[Path]:
    """Build them anew.

    Raises:
        MissingToolError: A tool for the other architecture is missing, and how to get it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    _hatchling(folder, "sdist", engine="none")
    for platform in MANYLINUX:
        _hatchling(folder, "wheel", engine=str(find_engine_wheel(platform)))
    return sorted(folder.iterdir())


def _hatchling(folder: Path, target: str, *, engine: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "PLIMSOLL_ENGINE": engine})


if __name__ == "__main__":
    for made in build(Path(sys.argv[1])):
        print(f"{made.stat().st_size / 2**20:7.1f} MiB  {made}")
