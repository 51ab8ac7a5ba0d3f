"""The canary on one machine: deploys and removes the stand-in for AWS."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from plimsoll.aws import clients
from plimsoll.client.address import read_address
from plimsoll.client.http import Http
from plimsoll.client.service_client import Service
from plimsoll.local.http_front import LocalService
from plimsoll.local.twin import LocalTwin, check_machine
from plimsoll.trial.on_aws import find_target_remains
from plimsoll.trial.place import Left, Teller


class OnOneMachine:
    """A deployment in a folder of this machine."""

    name = "one machine"

    def __init__(self, home: Path) -> None:
        """Create the twin; nothing starts yet.

        Args:
            home: An empty folder for the twin.
        """
        self._home = home
        self._made = ExitStack()
        self.twin = LocalTwin(home)

    def require_free(self) -> None:
        """Check that a twin can run on this machine."""
        check_machine()

    def creates(self) -> Sequence[str]:
        """Return what a deployment creates."""
        return ("a stand-in for AWS on 127.0.0.1, and in it a database; both end with the canary",)

    def deploy(self, teller: Teller) -> Service:
        """Start the twin and its API."""
        teller.status("starting the stand-in for AWS on this machine")
        self._made.enter_context(self.twin)
        clients.use_factory(self.twin.client)
        self._made.callback(clients.use_factory, None)
        front = self._made.enter_context(LocalService(self.twin))
        self.twin.warm("api", 1)
        teller.say(f"deployed: {front.url}")
        return Service(Http(read_address(front.url, source="the service on this machine")))

    def list_left_of_run(self, run_id: str) -> list[Left]:
        """Ask the twin as AWS would be asked, and look for the database server's process."""
        servers = (database for name, database in self.twin.databases.items() if run_id in name)
        running = [Left(f"the server of {each.identifier}", f"kill {each.pid}") for each in servers]
        return [*find_target_remains(run_id), *running]

    def destroy(self, teller: Teller) -> None:
        """End the front and the twin."""
        teller.status("ending the stand-in for AWS")
        self._made.close()

    def list_left_of_deployment(self) -> list[Left]:
        """Return the twin if it is alive, and the databases in its folder."""
        left = [Left("the stand-in for AWS", "end this process")] if self.twin.alive else []
        folder = self._home / "databases"
        servers = [path for path in folder.glob("*") if path.is_dir()] if folder.is_dir() else []
        return [*left, *(Left(f"the database {path}", f"rm -r {path}") for path in servers)]
