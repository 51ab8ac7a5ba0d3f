"""The process that is AWS.

Run as `python -m plimsoll.local.aws.server` by `plimsoll.local.aws.process`. The first line of
standard input is the configuration (JSON); the first line of standard output says where it listens,
or why it does not. It ends at the end of standard input, with all that it started. After the line
`close` its folder stays; without that line the parent has died, and the folder is removed. If it is
killed, the guards and the kernel kill its databases and sandboxes, and the parent, or the next twin
of the folder, removes what they leave.
"""

import fcntl
import gc
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from plimsoll.local.account import REGION, Keys
from plimsoll.local.aws import ENDS_SINCE
from plimsoll.local.lambdas.sandboxes import SandboxPool
from plimsoll.local.leftovers import (
    IN_MEMORY,
    remove_all_databases,
    remove_orphaned_homes,
    remove_twin,
)
from plimsoll.local.replacing import replace_members
from plimsoll.machine import ClockWatch
from plimsoll.process_limits import describe_reached_limit, describe_system_error

# No credential, profile or setting of this machine's user is ever read.
_NO_ACCOUNT = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
    "NO_PROXY": "127.0.0.1",
    "no_proxy": "127.0.0.1",
}


_LOOK_S = 1.0  # between two looks at whether the folders are still there, and at the clock


def main() -> None:
    """Serve until standard input ends, or a limit of this process is reached."""
    _end_at_limits()
    try:
        _serve()
    except (OSError, MemoryError, RuntimeError) as error:
        if (reached := describe_reached_limit(error)) is None:
            raise
        _end_at_once(reached)


def _end_at_limits() -> None:
    """End this process when it cannot start a thread, for which others would wait forever."""
    start = threading.Thread.start

    def start_or_end(thread: threading.Thread) -> None:
        try:
            start(thread)
        except RuntimeError as error:
            if (reached := describe_reached_limit(error)) is not None:
                _end_at_once(reached)
            raise

    def end_or_report(failed: threading.ExceptHookArgs) -> None:
        error = failed.exc_value
        if error is not None and (reached := describe_reached_limit(error)) is not None:
            _end_at_once(reached)
        threading.__excepthook__(failed)

    replace_members(threading.Thread, start=start_or_end)
    threading.excepthook = end_or_report


def _serve() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(
            number, signal.SIG_IGN
        )  # Ctrl-C reaches this process too, but only the parent decides when it ends
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    for name in ("moto", "werkzeug", "botocore"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # executions report their own errors
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ["MOTO_DISABLE_GLOBAL_CORS"] = "true"  # no page of a browser may read an answer
    os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"  # 1,300 images that no target starts from
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not be read as an answer

    configuration = json.loads(sys.stdin.buffer.readline())
    directory = Path(configuration["directory"])
    aws = {**_NO_ACCOUNT, **Keys(**configuration["keys"]).environment}
    os.environ.update(aws)
    folders = [directory, *(path for path in [directory / IN_MEMORY] if path.is_dir())]
    locks = [(folder / "lock").open("w") for folder in folders]  # held until this process ends
    try:
        for lock in locks:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = f"{directory} is in use by another run"
        print(json.dumps({"error": message}), file=answers, flush=True)
        return
    remove_all_databases(directory)
    remove_orphaned_homes()
    threading.Thread(target=_watch_machine, args=[locks], daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    port = listener.getsockname()[1]
    pool = SandboxPool(
        directory / "logs",
        {**aws, **configuration["environment"], "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"},
        hopeless=_end_at_once,
    )
    pool.preload([Path(root) for root in configuration["functions"].values()])
    gc.disable()  # what is loaded stays: the garbage collector need not look through it again
    # now, while the nursery loads its libraries on another core
    _offer_one_region()
    from plimsoll.local.aws.service_apis import Services  # noqa: PLC0415

    services = Services(configuration, pool, listener)
    gc.freeze()
    gc.enable()
    orphaned = True
    try:
        print(json.dumps({"port": port}), file=answers, flush=True)
        orphaned = sys.stdin.buffer.read() != b"close\n"
    finally:
        services.close()
        if orphaned:
            remove_twin(directory)
        os._exit(0)  # a request may still hang in a thread: do not wait for it


def _offer_one_region() -> None:
    """Offer every service in the twin's region alone.

    moto asks boto3 for the regions of each service, three times while it is imported, and each time
    boto3 reads the service's whole model: half a second of processor time in all.
    """
    import boto3  # noqa: PLC0415

    def list_regions(_self: object, _service: str, partition_name: str = "aws") -> list[str]:
        return [REGION] if partition_name == "aws" else []

    replace_members(boto3.Session, get_available_regions=list_regions)


def _watch_machine(locks: Sequence[TextIO]) -> None:
    """End once a folder is removed, as a cleaner of /tmp does, or once the clock is set back.

    Otherwise runs would wait for the folder, or for a barrier as long as the clock was set back.
    It also ends when it may open no further file, since it could answer no further connection.

    Args:
        locks: The open file `lock` of each folder.
    """
    clock = ClockWatch()
    while all(map(_is_there, locks)):
        time.sleep(_LOOK_S)
        if (set_back := clock.look()) is not None:
            _end_at_once(set_back)
        try:
            os.close(os.dup(0))
        except OSError as error:
            _end_at_once(describe_system_error(error))
    gone = next(Path(lock.name).parent for lock in locks if not _is_there(lock))
    _end_at_once(f"its folder {gone} was removed")


def _is_there(lock: TextIO) -> bool:
    try:
        return os.path.samestat(os.stat(lock.name), os.fstat(lock.fileno()))  # noqa: PTH116 - of both kinds
    except FileNotFoundError:
        return False


def _end_at_once(reason: str) -> None:
    """End with a sentence; guards and the kernel end what was started, the parent removes it."""
    print(f"{ENDS_SINCE}{reason}", file=sys.stderr, flush=True)
    os._exit(1)


if __name__ == "__main__":
    main()
