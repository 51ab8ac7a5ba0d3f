"""Snapshots on one machine: copies of the data folders of servers that were stopped cleanly.

They stand in for RDS (CreateDBSnapshot and related calls) and EBS (CreateSnapshot). A copy shares
its blocks with its original if the file system can (`cp --reflink`). It is stored among the twin's
databases, so that it is removed with them. Unlike on AWS, a snapshot ends its server: one is taken
only at the end of a preparation.
"""

import datetime as dt
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import EC2Backend
from moto.rds.exceptions import (
    DBInstanceNotFoundError,
    DBSnapshotAlreadyExistsError,
    DBSnapshotNotFoundFault,
)
from moto.rds.responses import RDSResponse

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.local.replacing import replace_members
from plimsoll.local.resources.registry import Database, Databases

WHOLE = "available"
Tell = Callable[[str], None]
_STOP_TIMEOUT_S = 300.0
_original_create: Any = EC2Backend.create_snapshot
_original_delete: Any = EC2Backend.delete_snapshot


class Snapshot:
    """One snapshot, which takes a while to complete."""

    def __init__(self, name: str, database: Database, tags: list[Mapping[str, str]]) -> None:
        self.name = name
        self.folder = database.directory.parent / f"snapshot-{name}"
        self.tags = tags
        self.source = database.identifier
        self.account = database.account
        self.made_at = dt.datetime.now(dt.UTC)
        self.state = "creating"

    def copy(self, database: Database, tell: Tell) -> None:
        """Stop the server, and copy its data; report the final state."""
        try:
            database.server.stop(_STOP_TIMEOUT_S)
            copy_tree(database.directory / "server" / "data", self.folder)
        except (OSError, PlimsollError) as error:
            print(f"the snapshot {self.name} failed: {error}", flush=True)
            self.state = "failed"
        else:
            self.state = WHOLE
        tell(self.state)

    def describe(self) -> dict[str, Any]:
        """Describe it as RDS does."""
        return {
            "DBSnapshotIdentifier": self.name,
            "DBInstanceIdentifier": self.source,
            "DBSnapshotArn": f"arn:aws:rds:{REGION}:{ACCOUNT}:snapshot:{self.name}",
            "SnapshotCreateTime": self.made_at,
            "SnapshotType": "manual",
            "Status": self.state,
            "TagList": self.tags,
        }


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder, sharing its blocks if the file system can.

    Raises:
        PlimsollError: It could not be copied; nothing of the copy is left.
    """
    command: list[str | Path] = [
        "cp",
        "--archive",
        "--reflink=auto",
        "--no-target-directory",
        source,
        target,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(target, ignore_errors=True)
        lines = done.stderr.strip().splitlines()
        raise PlimsollError(f"{source} could not be copied: {(lines or ['cp failed'])[-1]}")


class Snapshots:
    """All snapshots of a twin. Thread-safe."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._lock = threading.Lock()
        self._known: dict[str, Snapshot] = {}

    def take(
        self,
        name: str,
        database: Database,
        tags: list[Mapping[str, str]],
        tell: Tell = lambda _: None,
    ) -> Snapshot:
        """Start a snapshot; `tell` receives its state when it is complete, or has failed.

        Raises:
            DBSnapshotAlreadyExistsError: The name exists already.
        """
        with self._lock:
            if name in self._known:
                raise DBSnapshotAlreadyExistsError(name)
            made = self._known[name] = Snapshot(name, database, tags)
        threading.Thread(target=made.copy, args=(database, tell), daemon=True).start()
        return made

    def find(self, name: str) -> Snapshot:
        """Find a snapshot by name.

        Raises:
            DBSnapshotNotFoundFault: There is none.
        """
        with self._lock:
            if name not in self._known:
                raise DBSnapshotNotFoundFault(name)
            return self._known[name]

    def list(self, name: str | None) -> list[Snapshot]:
        """Return all snapshots, or the one of a name."""
        if name is not None:
            return [self.find(name)]
        with self._lock:
            return list(self._known.values())

    def delete(self, name: str) -> Snapshot:
        """Remove a snapshot.

        Raises:
            DBSnapshotNotFoundFault: There is none.
        """
        gone = self.find(name)
        with self._lock:
            self._known.pop(name, None)
        shutil.rmtree(gone.folder, ignore_errors=True)
        return gone

    def find_whole(self, name: str) -> Snapshot:
        """Find a snapshot from which a target can be restored.

        Raises:
            UsageError: There is none of this name, or it is incomplete.
        """
        with self._lock:
            found = self._known.get(name)
        if found is None or found.state != WHOLE:
            raise UsageError(f"DBSnapshot not found: {name}")
        return found

    def restore(self, name: str, directory: Path) -> None:
        """Copy a snapshot's data to where a new server of an instance expects its own.

        Raises:
            UsageError: There is no such snapshot, or it is incomplete.
            PlimsollError: It could not be copied.
        """
        server = directory / "server"
        server.mkdir(parents=True, exist_ok=True)
        copy_tree(self.find_whole(name).folder, server / "data")

    def find_source(self, identifier: str) -> Database | None:
        """Find a running instance by its name, or by its id on EC2."""
        for database in self._databases.list():
            if identifier in {database.identifier, database.attributes.get("InstanceId")}:
                return database
        return None

    def close(self) -> None:
        """Remove all snapshots."""
        for one in self.list(None):
            self.delete(one.name)


def apply(databases: Databases) -> Snapshots:
    """Install the snapshot calls for this machine's databases."""
    snapshots = Snapshots(databases)

    def create(self: RDSResponse) -> ActionResult:
        source = self.params["DBInstanceIdentifier"]
        database = snapshots.find_source(source)
        if database is None:
            raise DBInstanceNotFoundError(source)
        made = snapshots.take(
            self.params["DBSnapshotIdentifier"], database, self.params.get("Tags", [])
        )
        return ActionResult({"DBSnapshot": made.describe()})

    def describe(self: RDSResponse) -> ActionResult:
        found = snapshots.list(self.params.get("DBSnapshotIdentifier"))
        return ActionResult({"DBSnapshots": [one.describe() for one in found]})

    def delete(self: RDSResponse) -> ActionResult:
        gone = snapshots.delete(self.params["DBSnapshotIdentifier"])
        return ActionResult({"DBSnapshot": gone.describe()})

    replace_members(
        RDSResponse,
        create_db_snapshot=create,
        describe_db_snapshots=describe,
        delete_db_snapshot=delete,
    )
    _apply_to_ebs(snapshots)
    return snapshots


def _apply_to_ebs(snapshots: Snapshots) -> None:
    def create(self: EC2Backend, volume_id: str, *given: Any, **named: Any) -> Any:
        made = _original_create(self, volume_id, *given, **named)
        attachment = self.volumes[volume_id].attachment
        database = snapshots.find_source(attachment.instance.id) if attachment else None
        if database is not None:

            def tell(state: str) -> None:
                made.status = "completed" if state == WHOLE else "error"

            made.status = "pending"
            snapshots.take(made.id, database, [], tell)
        return made

    def delete(self: EC2Backend, snapshot_id: str) -> Any:
        if any(one.name == snapshot_id for one in snapshots.list(None)):
            snapshots.delete(snapshot_id)
        return _original_delete(self, snapshot_id)

    replace_members(EC2Backend, create_snapshot=create, delete_snapshot=delete)
