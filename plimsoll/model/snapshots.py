"""Snapshots: of datasets that an experiment prepares once, and of a user's own."""

from typing import Annotated

from pydantic import Field

PREFIX = "plimsoll-dataset-"  # of the names of Plimsoll's own; the run that prepared it follows
SnapshotArn = Annotated[
    str,
    Field(pattern=r"^arn:aws[a-z-]*:rds:[a-z0-9-]+:\d{12}:snapshot:[A-Za-z][A-Za-z0-9:-]{0,254}$"),
]


def snapshot_name(run_id: str) -> str:
    """Name the snapshot of the dataset that a run prepares."""
    return f"{PREFIX}{run_id}"


def preparing_run(name: str) -> str:
    """Name the run that prepared the dataset of a snapshot of Plimsoll's own."""
    return name.removeprefix(PREFIX)
