"""A run on one machine: submits it to the twin, follows it to its end, and saves its files."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from plimsoll.aws import clients
from plimsoll.aws.run_files import RunFiles, files_of
from plimsoll.errors import PlimsollError
from plimsoll.files import write_whole
from plimsoll.local.faults import Faults, list_faults
from plimsoll.local.twin import LocalTwin
from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.deployment.function_settings import ExperimentSettings
from plimsoll.model.deployment.functions import Setting
from plimsoll.model.run.run_record import RunRecord
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.workflow.status import Snapshot, Watcher
from plimsoll.workflow.submit import submit_run

POLL_S = 0.25


def make_twin_settings(twin: LocalTwin) -> ExperimentSettings:
    """Return the settings for calling a twin as its API does, but without a team and its limits.

    Runs submitted this way run on one machine, whatever the settings of the twin's functions.
    """
    clients.use_factory(twin.client)
    own = {Setting.TEAMS: "{}", Setting.ON_ONE_MACHINE: "true"}
    return ExperimentSettings.of_deployment({**twin.settings, **own})


class LocalRun:
    """One run on a twin."""

    def __init__(
        self,
        twin: LocalTwin,
        checked: CheckedRequest,
        *,
        idempotency_key: str | None = None,
        prices: PriceOverrides | None = None,
    ) -> None:
        """Submit it.

        Args:
            twin: The twin to run on.
            checked: The run's request.
            idempotency_key: A name chosen by the caller. The same key with the same request gives
                the same run.
            prices: The prices for its cost and budget, though nothing is spent; None for the
                built-in ones.

        Raises:
            UsageError: The run is not possible.
        """
        self._twin = twin
        self.settings = make_twin_settings(twin)
        if prices is not None:
            self.settings = self.settings.model_copy(update={"prices": prices})
        self.run_id = submit_run(self.settings, checked, idempotency_key=idempotency_key)
        self._watcher = Watcher(self.settings, self.run_id)
        faults = list_faults(checked.request)
        self._faults = Faults(twin, faults, identifier=f"plimsoll-{self.run_id}")

    @property
    def files(self) -> RunFiles:
        """The run's files in the twin's S3."""
        return files_of(self.settings, self.run_id)

    def look(self) -> Snapshot:
        """Return where the run stands; start its injected faults when they are due."""
        snapshot = self._watcher.look()
        self._faults.look(snapshot)
        return snapshot

    def wait(self, show: Callable[[Snapshot], None] = lambda _: None) -> RunRecord:
        """Follow it to its end."""
        while True:
            now = self.look()
            show(now)
            if now.record.state.ended:
                return now.record
            time.sleep(POLL_S)

    def stop(self) -> None:
        """Stop its workflow; the teardown that this starts goes on."""
        arn = self._twin.state_machine_arn("run").replace(":stateMachine:", ":execution:")
        clients.stepfunctions().stop_execution(
            executionArn=f"{arn}:{self.run_id}",
            error="Stopped",
            cause="interrupted from the command line",
        )

    def save(self, directory: Path) -> None:
        """Save its files as they are in S3, except those that only the fleet needs."""
        save_files(self.files, directory)


def save_files(files: RunFiles, directory: Path) -> None:
    """Write a run's files into a folder as they are in S3, except those that only the fleet needs.

    Raises:
        PlimsollError: The folder cannot be written, or its disk is full.
    """
    try:
        wanted = [path for path in files.paths() if "/claims/" not in path]
        for path, content in files.read_each(wanted):
            place = directory / path
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, content)
    except (OSError, PlimsollError) as error:
        raise PlimsollError(
            f"{directory}: {error}: the run has ended, but its files are not all there"
        ) from None


@contextmanager
def interrupt_on_termination() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C: the run is stopped and torn down."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in _TERMINATIONS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_TERMINATIONS = (signal.SIGTERM, signal.SIGHUP)
