"""Plimsoll finds a database's load line.

For programs (docs/python.md): `find`, `load` and `prepare` call a database; `judge`, `compare`,
`read_result` and `read_request` work on what is there. Whatever goes wrong is a `PlimsollError`
that says so in a sentence; a `UsageError` where the input is wrong.

Each name loads what it needs when it is first used, so that `import plimsoll` costs nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

# name -> the module that has it; __init__.pyi says the same to type checkers, and a test holds it
_FACE = {
    "find": "plimsoll.library.find",
    "load": "plimsoll.library.load",
    "prepare": "plimsoll.library.load",
    "judge": "plimsoll.library.judge",
    "compare": "plimsoll.library.results",
    "read_result": "plimsoll.library.results",
    "read_request": "plimsoll.library.results",
    "Result": "plimsoll.library.results",
    "LoadResult": "plimsoll.library.load",
    "Progress": "plimsoll.library.load",
    "Capacity": "plimsoll.model.judging.capacity",
    "Comparison": "plimsoll.report.comparing.comparing",
    "Request": "plimsoll.model.request.request",
    "PlimsollError": "plimsoll.errors",
    "UsageError": "plimsoll.errors",
}
__all__ = ["__version__", *_FACE]  # noqa: PLE0604 - its names are text


def __getattr__(name: str) -> object:
    """Import what has a name, when it is first asked for."""
    if name not in _FACE:
        raise AttributeError(f"module 'plimsoll' has no attribute {name!r}")
    value: object = getattr(import_module(_FACE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the names for programs."""
    return sorted(__all__)
