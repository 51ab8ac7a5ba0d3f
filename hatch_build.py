"""Puts the load engine into Plimsoll's wheel, so that one installation brings all of it.

`PLIMSOLL_ENGINE` says which: the path of an engine's wheel, whose platform becomes this one's;
`none`, for whoever installs the engine beside it; or nothing, and it is built from its sources.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "PLIMSOLL_ENGINE"


class EngineHook(BuildHookInterface[Any]):
    """Adds the engine to a wheel, maturin's list of its crates, and the platform to its name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Do it before a wheel is built; an editable one uses the engine that is installed."""
        given = os.environ.get(VARIABLE, "")
        if version == "editable" or given == "none":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="plimsoll-engine-")
        folder = Path(self._folder.name)
        wheel = Path(given) if given else self._built(folder)
        with ZipFile(wheel) as archive:
            boms = [name for name in archive.namelist() if name.endswith(".cyclonedx.json")]
            names = [name for name in archive.namelist() if name.startswith("plimsoll_engine/")]
            archive.extractall(folder, [*names, *boms])
        build_data["force_include"][str(folder / "plimsoll_engine")] = "plimsoll_engine"
        build_data["sbom_files"] += [str(folder / bom) for bom in boms]
        build_data["pure_python"] = False
        build_data["tag"] = wheel.stem.split("-", 2)[2]

    def _built(self, folder: Path) -> Path:
        manifest = Path(self.root, "engine", "Cargo.toml")
        command = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--strip"]
        command += ["--manifest-path", str(manifest), "--interpreter", sys.executable]
        subprocess.run([*command, "--out", str(folder)], check=True)
        return next(folder.glob("plimsoll_engine-*.whl"))
