"""Folders that are beside the package in a checkout, and inside it in an installed wheel."""

from pathlib import Path
from typing import Literal

from plimsoll.errors import PlimsollError

PackagedFolder = Literal["functions", "scenarios", "statemachines", "workloads"]
_PACKAGE = Path(__file__).parent
_INSTALLED = _PACKAGE / "packaged_folders"  # pyproject.toml puts them there


def is_installed_wheel() -> bool:
    """Return whether this is an installed wheel, and not a checkout."""
    return _INSTALLED.is_dir()


def find_packaged_folder(name: PackagedFolder) -> Path:
    """Return the path of a folder that comes with Plimsoll.

    Raises:
        PlimsollError: The folder is missing.
    """
    for parent in (_INSTALLED, _PACKAGE.parent):
        if (folder := parent / name).is_dir():
            return folder
    raise PlimsollError(f"this installation has lost its {name}; install it again")
