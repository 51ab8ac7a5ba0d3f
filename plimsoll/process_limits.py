"""Limits of this process (`ulimit`), named where one of them ends a command."""

import errno
import resource
import shutil

_MIB = 2**20
_LEAST_MEMORY_BYTES = 512 * _MIB  # with less, numpy's library may end the process by itself
# What Python's RuntimeError and the engine's panic say then
_NO_THREAD = ("can't start new thread", "failed to spawn thread")
_NO_LIBRARY = "failed to map segment from shared object"  # what an ImportError says then


def is_limit_reached(error: BaseException) -> bool:
    """Return whether an error that is no OSError says that the system gave no more."""
    return _lacks_memory(error) or _lacks_thread(error)


def _lacks_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or _NO_LIBRARY in str(error)


def _lacks_thread(error: BaseException) -> bool:
    return any(text in str(error) for text in _NO_THREAD)


def warn_of_little_memory() -> str | None:
    """Name a limit on this process's memory under which a command may end without a word."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most >= _LEAST_MEMORY_BYTES:
        return None
    limit = _name_limit(resource.RLIMIT_AS, "a process", "-v", _MIB, "MiB of memory")
    return f"little memory{limit}; some commands need {_LEAST_MEMORY_BYTES // _MIB}"


def describe_system_error(error: BaseException) -> str:
    """Describe an error of the system, with the limit of this process that may be its cause."""
    if _lacks_memory(error):
        error = OSError(errno.ENOMEM, "out of memory")
    elif _lacks_thread(error):
        error = OSError(errno.EAGAIN, "no further thread can be started")
    elif isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        return "; ".join(dict.fromkeys(str(why) for *_, why in error.args[0]))
    text = str(getattr(error, "strerror", None) or error)
    match getattr(error, "errno", None):
        # Direct I/O that would pass the limit is cut to a length that the system then refuses.
        case errno.EFBIG | errno.EINVAL:
            return text + _name_limit(resource.RLIMIT_FSIZE, "a file", "-f", _MIB, "MiB")
        case errno.EAGAIN:
            return text + _name_limit(
                resource.RLIMIT_NPROC, "this user", "-u", 1, "processes and threads"
            )
        case errno.ENOMEM:
            return text + _name_limit(resource.RLIMIT_AS, "a process", "-v", _MIB, "MiB of memory")
        case errno.EMFILE:
            return text + _name_limit(resource.RLIMIT_NOFILE, "a process", "-n", 1, "open files")
        case _:
            return text


def _name_limit(limit: int, who: str, option: str, unit: int, units: str) -> str:
    """Name a limit, `: a file may have 5 MiB at most (ulimit -f)`; nothing if it is not set."""
    most, _ = resource.getrlimit(limit)
    if most == resource.RLIM_INFINITY:
        return ""
    return f": {who} may have {most / unit:,.10g} {units} at most (ulimit {option})"
