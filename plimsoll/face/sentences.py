"""Every error as a `PlimsollError` in one sentence, which calls arguments by their Python names."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from plimsoll.complaints import Complaint
from plimsoll.errors import PlimsollError, UsageError

_NAMES = {
    "duration": "duration_s",
    "limit": "limits",
    "limit-us": "limits",
    "set": "parameters",
    "tables": "parameters",
    "time-limit": "time_limit_s",
    "warm": "warm_s",
    "warmup": "warmup_s",
}
# an option, but for those of a whole command, which stays as it is typed
_OPTION = re.compile(r"plimsoll \w+(?: --[a-z-]+(?: \w[\w-]*)?)+|--([a-z]+(?:-[a-z]+)*)")


@contextmanager
def plimsoll_errors() -> Iterator[None]:
    """Let no other library's error out, and no option of the command line.

    Raises:
        PlimsollError: What was raised, in a sentence.
    """
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: {first['msg']}" if where else first["msg"]) from None
    except UsageError as error:
        raise type(error)(*map(_renamed, error.complaints)) from None
    except PlimsollError as error:
        error.args = tuple(_in_python(str(part)) for part in error.args)
        raise error from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise PlimsollError(f"{place}{error.strerror or error}") from None


def _renamed(complaint: Complaint) -> Complaint | str:
    """Give a complaint with the arguments' names; one about an option becomes its sentence."""
    text = str(complaint)
    return _in_python(text) if _OPTION.search(text) else complaint


def _in_python(text: str) -> str:
    def named(found: re.Match[str]) -> str:
        option: str | None = found[1]
        return found[0] if option is None else _NAMES.get(option, option.replace("-", "_"))

    return _OPTION.sub(named, text)
