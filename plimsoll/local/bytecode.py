"""Compiled modules of the twin's processes: kept, also where nothing may be written beside sources.

Some 2,700 modules are loaded by the stand-in for AWS and as many by the process that functions are
forked from. Compiling them anew is a third of what the start of a twin takes.
"""

import sys

from plimsoll.cache import open_cache_directory


def bytecode_variables() -> dict[str, str]:
    """Return the variables for a Python process that keeps what it compiles.

    None where this one may: its children then do so by themselves. With PYTHONDONTWRITEBYTECODE,
    which images of containers set, they keep it in the project's cache folder.
    """
    if not sys.dont_write_bytecode:
        return {}
    return {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(open_cache_directory() / "bytecode"),
    }
