"""How Plimsoll is installed: its packaged folders, and the extras that a wheel may lack."""

import importlib.metadata
import json
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from plimsoll.errors import MissingToolError, PlimsollError

Extra = Literal["local", "otlp"]  # those in pyproject.toml that users install
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


def require_extra(extra: Extra, modules: Iterable[str], *, user: str) -> None:
    """See that the packages of an extra are installed.

    Args:
        extra: The extra.
        modules: The modules of its packages that are needed.
        user: What needs them, for the error.

    Raises:
        MissingToolError: Some are not installed; says the command that installs them.
    """
    missing = [module for module in modules if not is_importable(module)]
    if missing:
        names = ", ".join(missing)
        raise MissingToolError(
            f"{user} needs packages that are not installed ({names}): {explain_install(extra)}"
        )


def is_importable(module: str) -> bool:
    """Return whether a module is installed; another package may have brought a part of its path."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def explain_install(extra: Extra) -> str:
    """Return the command that installs an extra beside what is installed.

    A wheel's installer has noted where the wheel was, and pipx that the environment is its own.
    """
    if not is_installed_wheel():
        return "make setup"
    noted = importlib.metadata.distribution("plimsoll-db").read_text("direct_url.json")
    url = urlsplit(json.loads(noted)["url"]) if noted else None
    wheel = unquote(url.path) if url and url.scheme == "file" else "WHEEL"
    with_pipx = Path(sys.prefix, "pipx_metadata.json").is_file()
    install = "pipx install --force" if with_pipx else f"{sys.executable} -m pip install"
    return f"{install} '{wheel}[{extra}]'"
