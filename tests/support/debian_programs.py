"""Programs of Debian's packages that are unpacked for tests (`tools/debian_package.py`)."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / ".cache/debian"


def find_debian_program(package: str, path: str) -> Path:
    """Return a program of an unpacked package."""
    program = FOLDER / package / path
    if not program.exists():
        pytest.fail(f"{package} is not there: make .venv/.stamps/test-programs")
    return program


def list_debian_libraries() -> str:
    """Return the folders of unpacked libraries, as LD_LIBRARY_PATH lists them."""
    folders = (*FOLDER.glob("lib*/usr/lib/*-linux-gnu"), *FOLDER.glob("lib*/lib/*-linux-gnu"))
    return ":".join(map(str, folders))
