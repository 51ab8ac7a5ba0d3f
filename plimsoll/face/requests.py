"""Requests: what a run on the service is asked to be."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from plimsoll.errors import UsageError
from plimsoll.face.sentences import plimsoll_errors
from plimsoll.model.experiment import Experiment
from plimsoll.model.request import Request
from plimsoll.requests.experiment_file import read_file
from plimsoll.requests.request_values import checked_request


def read_request(source: str | PathLike[str] | Mapping[str, Any]) -> Request:
    """Read and check the request of a run.

    Args:
        source: A YAML or JSON file of one run (docs/requests.md), or the same as plain values.

    Raises:
        UsageError: Something in it cannot be; names each field and what is allowed.

    >>> import plimsoll
    >>> target = {"kind": "rds", "engine": "mariadb", "engine_version": "11.4",
    ...           "instance_class": "db.m6i.large",
    ...           "volume": {"type": "io1", "size_gib": 100, "iops": 1000}}
    >>> request = plimsoll.read_request({
    ...     "name": "nightly", "target": target,
    ...     "workload": {"name": "ycsb-b", "records": 100_000},
    ...     "search": {"strategy": "ramp", "connections_max": 64}})
    >>> request.load.duration_s
    60
    >>> plimsoll.read_request({"name": "nightly", "target": target})
    Traceback (most recent call last):
    ...
    plimsoll.errors.UsageError: lacks the field 'workload'
    lacks the field 'search'
    """
    with plimsoll_errors():
        if isinstance(source, Mapping):
            return checked_request(source)
        asked = read_file(Path(source))
        if isinstance(asked, Experiment):
            raise UsageError(f"{source}: is an experiment, not one run")
        if len(asked) > 1:
            raise UsageError(f"{source}: holds several runs: {', '.join(asked)}")
        return next(iter(asked.values()))
