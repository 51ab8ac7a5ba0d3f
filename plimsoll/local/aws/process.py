"""The parent's side of the process that is AWS: started, asked, and gone with its parent.

If the process is killed while it answers, a client receives a status, perhaps headers, and no body,
which botocore takes for an empty answer: read as a run's record, that would mean "there is no run".
`require_whole_answers` makes such calls fail.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ConnectionClosedError
from botocore.model import OperationModel

from plimsoll.cache import open_cache_directory
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.local.account import REGION, Keys
from plimsoll.local.aws import ENDS_SINCE

_CLOSE_TIMEOUT_S = 30.0
_END_TIMEOUT_S = 15.0
_WITHOUT_BODY = frozenset({204, 304})  # RFC 9110, 15.3.5 and 15.4.5


class AwsProcess:
    """A running `plimsoll.local.aws.server`.

    Attributes:
        port: The port that it listens on, on 127.0.0.1.
    """

    def __init__(
        self, directory: Path, functions: Mapping[str, Path], keys: Keys, **settings: object
    ) -> None:
        """Start it and wait until it answers.

        Args:
            directory: The folder for logs, volumes and data directories.
            functions: Folder of each function's handler, by function name.
            keys: The keys with which every call must be signed.
            settings: The rest of its configuration.

        Raises:
            UsageError: The folder is another twin's.
            PlimsollError: It did not start; the message ends with what its log says.
        """
        directory.mkdir(parents=True, exist_ok=True)
        log = directory / "aws.log"
        with log.open("ab") as sink:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "plimsoll.local.aws.server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                start_new_session=True,  # Ctrl-C is for the parent, which closes it in good order
                env={**os.environ, "PYTHONUNBUFFERED": "1", **list_bytecode_variables()},
            )
        configuration = {
            "directory": str(directory),
            "functions": {name: str(root) for name, root in functions.items()},
            "keys": asdict(keys),  # through a pipe: the list of processes shows arguments
            **settings,
        }
        self._log = log.open("rb")  # stays readable if somebody removes the folder
        self._keys = Credentials(keys.aws_access_key_id, keys.aws_secret_access_key)
        try:
            self.port: int = self._begin(configuration)
        except BaseException:  # if interrupted: the kernel ends all that it has started so far
            self._process.kill()
            self._process.wait()
            self._log.close()
            raise

    def _begin(self, configuration: Mapping[str, object]) -> int:
        """Send the configuration; return the port that it listens on."""
        assert self._process.stdin is not None  # noqa: S101 - both were asked for above
        assert self._process.stdout is not None  # noqa: S101
        with contextlib.suppress(BrokenPipeError):  # it has ended: its log says why
            self._process.stdin.write(json.dumps(configuration).encode() + b"\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._end()
            raise PlimsollError(f"the local stand-in for AWS did not start: {self._read_reason()}")
        answer = json.loads(line)
        if "error" in answer:
            self._end()
            raise UsageError(answer["error"])
        return int(answer["port"])

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def explain_end(self) -> str | None:
        """Say why it has ended, if it has; a connection can fail a moment before."""
        try:
            code = self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None
        return signal.strsignal(-code) if code < 0 else self._read_reason()

    def _read_reason(self) -> str:
        self._log.seek(0)
        return find_end_reason(self._log.read().decode(errors="replace"))

    def ask(self, name: str, **question: object) -> Any:
        """Ask it something that AWS has no API for.

        Raises:
            PlimsollError: It refuses, or is gone.
        """
        url, body = f"http://127.0.0.1:{self.port}/_twin/{name}", json.dumps(question).encode()
        signed = AWSRequest("POST", url, {"Content-Type": "application/json"}, body)
        SigV4Auth(self._keys, "twin", REGION).add_auth(signed)
        request = urllib.request.Request(url, data=body, headers=dict(signed.headers.items()))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            raise PlimsollError(f"{name}: {json.loads(error.read())['error']}") from None
        except OSError as error:
            why = self.explain_end() or error
            raise PlimsollError(f"the local stand-in for AWS is gone: {why}") from None

    def close(self) -> None:
        """End it, and with it all that it runs."""
        self._end()
        self._log.close()

    def _end(self) -> None:
        assert self._process.stdin is not None  # noqa: S101 - both were asked for
        assert self._process.stdout is not None  # noqa: S101
        with contextlib.suppress(OSError):  # it has ended already
            self._process.stdin.write(b"close\n")
            self._process.stdin.flush()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def find_end_reason(log: str) -> str:
    """Return why a stand-in ended, as its log says: the reason that it gave, or the last line."""
    _, gave, reason = log.rpartition(ENDS_SINCE)
    lines = (reason if gave else log).strip().splitlines()
    if not lines:
        return "it said nothing"
    return lines[0] if gave else lines[-1]


def list_bytecode_variables() -> dict[str, str]:
    """Return the variables for a Python process of the twin, which keeps the modules it compiles.

    It loads some 2,700 modules: compiling them anew is a third of the time that a twin takes to
    start. If this process may not write them beside their sources (PYTHONDONTWRITEBYTECODE, which
    images of containers set), they go into the project's cache folder; else there is nothing to do.
    """
    if not sys.dont_write_bytecode:
        return {}
    return {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(open_cache_directory() / "bytecode"),
    }


def require_whole_answers(client: Any) -> None:
    """Let a client's calls with a truncated answer fail, as if the connection had been closed.

    Streamed bodies are excluded: the stream itself counts its bytes.
    """

    def require(
        operation_model: OperationModel, response_dict: Mapping[str, Any], **_: object
    ) -> None:
        if operation_model.has_streaming_output or operation_model.http["method"] == "HEAD":
            return
        if not _is_whole(response_dict):
            raise ConnectionClosedError(endpoint_url=client.meta.endpoint_url)

    client.meta.events.register("before-parse", require)


def _is_whole(answer: Mapping[str, Any]) -> bool:
    headers, body = answer["headers"], answer["body"]
    if answer["status_code"] in _WITHOUT_BODY or "transfer-encoding" in headers:
        return True  # urllib3 notices a missing chunk
    length: str | None = headers.get("content-length")
    return length == str(len(body))
