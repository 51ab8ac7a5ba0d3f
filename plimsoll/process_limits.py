"""Limits of this process (`ulimit`), named where one of them ends a command."""

import errno
import re
import resource
import shutil

_MIB = 2**20
_GIB = 2**30
_LEAST_MEMORY_BYTES = 512 * _MIB  # with less, numpy's library may end the process by itself
# What Python's RuntimeError and the engine's panic say then
_NO_THREAD = ("can't start new thread", "failed to spawn thread")
_NO_LIBRARY = "failed to map segment from shared object"  # what an ImportError says then
_OF_ENGINE = re.compile(r"\(os error (\d+)\)$")  # how an error of the system ends there
_OF_LIMITS = {errno.EFBIG, errno.EAGAIN, errno.ENOMEM, errno.EMFILE}
# Whom each limits, its unit, the unit's name, the option of `ulimit`
_LIMITS = {
    resource.RLIMIT_FSIZE: ("a file", _MIB, "MiB", "-f"),
    resource.RLIMIT_AS: ("a process", _MIB, "MiB of memory", "-v"),
    resource.RLIMIT_NPROC: ("this user", 1, "processes and threads", "-u"),
    resource.RLIMIT_NOFILE: ("a process", 1, "open files", "-n"),
}
# What a run on one machine is seldom too large for
_AMPLE = {
    resource.RLIMIT_FSIZE: 4 * _GIB,
    resource.RLIMIT_AS: 8 * _GIB,  # mostly stacks of threads that are reserved, not used
    resource.RLIMIT_NPROC: 1024,
    resource.RLIMIT_NOFILE: 256,
}


def is_limit_reached(error: BaseException) -> bool:
    """Return whether an error that is no OSError says that the system gave no more."""
    return _lacks_memory(error) or _lacks_thread(error)


def describe_reached_limit(error: BaseException) -> str | None:
    """Describe an error that says that the system gave no more; None if it is another one."""
    of_system = isinstance(error, OSError) and error.errno in _OF_LIMITS
    return describe_system_error(error) if of_system or is_limit_reached(error) else None


def name_limit_in(text: str) -> str:
    """Return an error's text, with the limit after it if the engine was refused by one."""
    match = _OF_ENGINE.search(text)
    if match is None or int(match[1]) not in _OF_LIMITS:
        return text
    return describe_system_error(OSError(int(match[1]), text))


def name_low_limits() -> str:
    """Name the limits that may be why a run on one machine fails; empty if all are ample.

    Its database, functions and stand-in for AWS are processes of their own under the same limits,
    and what one of them says when it meets a limit may not name it.
    """
    return "; ".join(
        _describe_limit(limit) for limit, ample in _AMPLE.items() if _is_below(limit, ample)
    )


def _lacks_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or _NO_LIBRARY in str(error)


def _lacks_thread(error: BaseException) -> bool:
    return any(text in str(error) for text in _NO_THREAD)


def warn_of_little_memory() -> str | None:
    """Name a limit on this process's memory under which a command may end without a word."""
    if not _is_below(resource.RLIMIT_AS, _LEAST_MEMORY_BYTES):
        return None
    limit = _describe_limit(resource.RLIMIT_AS)
    return f"little memory: {limit}; some commands need {_LEAST_MEMORY_BYTES // _MIB}"


def describe_system_error(error: BaseException) -> str:
    """Describe an error of the system, with the limits of this process that may be its cause."""
    if _lacks_memory(error):
        error = OSError(errno.ENOMEM, "out of memory")
    elif _lacks_thread(error):  # which has its stack in the memory that `ulimit -v` counts
        limits = [limit for limit in (resource.RLIMIT_NPROC, resource.RLIMIT_AS) if _is_set(limit)]
        told = "; ".join(map(_describe_limit, limits))
        return "no further thread can be started" + (f": {told}" if told else "")
    elif isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        return "; ".join(dict.fromkeys(str(why) for *_, why in error.args[0]))
    text = str(getattr(error, "strerror", None) or error)
    match getattr(error, "errno", None):
        # Direct I/O that would pass the limit is cut to a length that the system then refuses.
        case errno.EFBIG | errno.EINVAL:
            limit = resource.RLIMIT_FSIZE
        case errno.EAGAIN:
            limit = resource.RLIMIT_NPROC
        case errno.ENOMEM:
            limit = resource.RLIMIT_AS
        case errno.EMFILE:
            limit = resource.RLIMIT_NOFILE
        case _:
            return text
    return f"{text}: {_describe_limit(limit)}" if _is_set(limit) else text


def _is_set(limit: int) -> bool:
    return resource.getrlimit(limit)[0] != resource.RLIM_INFINITY


def _is_below(limit: int, ample: int) -> bool:
    return _is_set(limit) and resource.getrlimit(limit)[0] < ample


def _describe_limit(limit: int) -> str:
    """Describe a limit that is set, such as `a file may have 5 MiB at most (ulimit -f)`."""
    who, unit, units, option = _LIMITS[limit]
    most, _ = resource.getrlimit(limit)
    return f"{who} may have {most / unit:,.10g} {units} at most (ulimit {option})"
