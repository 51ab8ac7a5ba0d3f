"""Every AWS call that functions make on a twin, written down with its parameters.

Each function runs behind a handler that first lets botocore write down what it calls.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.client import BaseClient

from plimsoll.model.deployment.functions import FUNCTIONS

ROOT = Path(__file__).parents[2]
HANDLER = """\
import importlib.util, sys
from pathlib import Path

sys.path.append({root!r})
from tests.second_opinion.journal import write_calls_to

write_calls_to(Path({file!r}), {name!r})
spec = importlib.util.spec_from_file_location("real_{folder}", {real!r})
real = importlib.util.module_from_spec(spec)
spec.loader.exec_module(real)
handler = real.handler
"""


@dataclass(frozen=True)
class AwsCall:
    """One call of AWS.

    Attributes:
        function: Who called.
        service: As botocore names it.
        operation: Of the service's API.
        parameters: As botocore got them.
    """

    function: str
    service: str
    operation: str
    parameters: dict[str, Any]


def write_calls_to(file: Path, function: str) -> None:
    """Let every client of this process write its calls into a file, a JSON line each."""
    call = BaseClient._make_api_call  # type: ignore[attr-defined]  # the stubs leave it out

    def written(client: BaseClient, operation: str, parameters: dict[str, Any]) -> Any:
        service = client.meta.service_model.service_name
        line = json.dumps([function, service, operation, parameters], default=str) + "\n"
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, line.encode())  # at once: several processes write
        os.close(descriptor)
        return call(client, operation, parameters)

    BaseClient._make_api_call = written  # type: ignore[attr-defined]


def write_functions(folder: Path, file: Path) -> Path:
    """Make a folder of functions whose calls are written into a file."""
    for name, function in FUNCTIONS.items():
        place = folder / function.folder / "handler.py"
        place.parent.mkdir(parents=True)
        real = ROOT / "functions" / function.folder / "handler.py"
        place.write_text(
            HANDLER.format(
                root=str(ROOT), file=str(file), name=name, folder=function.folder, real=str(real)
            )
        )
    return folder


def read_calls(file: Path) -> list[AwsCall]:
    """Read what was written, in order."""
    return [AwsCall(*json.loads(line)) for line in file.read_text().splitlines()]
