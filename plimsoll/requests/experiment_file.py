"""Reading experiments from YAML: errors name the file, the line and the field."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.documents import read_document, read_text
from plimsoll.errors import UsageError
from plimsoll.requests.cells import CheckedExperiment, validate_experiment
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.requests.input_files import read_named_files
from plimsoll.requests.request_file import read_requests

AXES = "axes"  # a file with this field is an experiment
_OF_WORKLOADS = {"tables", "operations"}  # fields that no request has


def read_file(
    path: Path, allowed: Sequence[Path] = ()
) -> CheckedExperiment | dict[str, CheckedRequest]:
    """Read a file: an experiment, or runs by name.

    Args:
        path: The file.
        allowed: Folders in which files that it names may lie, besides its own (of what comes
            through /dev, as /dev/stdin does: besides the working directory).

    Raises:
        UsageError: Something in it is not valid; one line per error.
    """
    document = read_document(read_text(path), str(path))
    folder = Path() if path.is_relative_to("/dev") else path.parent
    read_named_files(document, (folder, *allowed))
    if isinstance(document.value, dict) and document.value.keys() >= _OF_WORKLOADS:
        problem = (
            "is the file of a workload, and no request: `plimsoll workload show` checks it, and"
            " `workload: {file: NAME}` of a request names it"
        )
        raise UsageError(f"{path}: {problem}")
    if isinstance(document.value, dict) and AXES in document.value:
        return document.check(validate_experiment)
    return read_requests(document)
