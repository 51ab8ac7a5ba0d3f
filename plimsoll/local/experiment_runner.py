"""An experiment on one machine: submits it to the twin, follows it, and saves its files."""

import time
from collections.abc import Callable
from pathlib import Path

from plimsoll.aws.run_files import files_of
from plimsoll.experiments.lifecycle import get_experiment, stop_experiment, submit_experiment
from plimsoll.experiments.records import RESULT, open_experiment_files
from plimsoll.files import write_whole
from plimsoll.local.faults import Faults, list_faults
from plimsoll.local.runner import make_twin_settings, save_files
from plimsoll.local.twin import LocalTwin
from plimsoll.model.run.experiment_record import ExperimentResult, ExperimentStatus
from plimsoll.requests.cells import CheckedExperiment
from plimsoll.workflow.status import Watcher

POLL_S = 0.5
RESULT_AT_HOME = "experiment.json"


class LocalExperiment:
    """One experiment on a twin."""

    def __init__(self, twin: LocalTwin, checked: CheckedExperiment) -> None:
        """Submit it.

        Raises:
            UsageError: The experiment is not possible.
        """
        self._twin = twin
        self._team = checked.experiment.team
        self._cells = checked.cells
        self.settings = make_twin_settings(twin)
        self.experiment_id = submit_experiment(self.settings, checked)
        self._faulty: dict[str, tuple[Watcher, Faults]] = {}

    def look(self) -> ExperimentStatus:
        """Return where the experiment stands; start its runs' injected faults when they are due."""
        status = get_experiment(self.settings, self._team, self.experiment_id)
        for cell in status.running:
            if faults := list_faults(self._cells[cell.index].request):
                if cell.run_id not in self._faulty:
                    watcher = Watcher(self.settings, cell.run_id)
                    made = Faults(self._twin, faults, identifier=f"plimsoll-{cell.run_id}")
                    self._faulty[cell.run_id] = watcher, made
                watcher, made = self._faulty[cell.run_id]
                made.look(watcher.look())
        return status

    def wait(self, show: Callable[[ExperimentStatus], None] = lambda _: None) -> ExperimentStatus:
        """Follow it to its end, when every target is gone."""
        while True:
            now = self.look()
            show(now)
            if now.record.state.ended:
                return now
            time.sleep(POLL_S)

    def stop(self) -> None:
        """Stop it: the workflow that this starts stops the cells and tears them down."""
        stop_experiment(self.settings, self._team, self.experiment_id)

    @property
    def result(self) -> ExperimentResult:
        """Return its result, once it has ended."""
        return open_experiment_files(self.settings, self.experiment_id).get(
            RESULT, ExperimentResult
        )

    def save(self, directory: Path) -> ExperimentResult:
        """Save its files: a folder for each run that began, and `experiment.json`."""
        result = self.result
        for cell in result.cells:
            if cell.state is not None:
                save_files(files_of(self.settings, cell.run_id), directory / cell.name)
        directory.mkdir(parents=True, exist_ok=True)
        write_whole(directory / RESULT_AT_HOME, result.model_dump_json(indent=1))
        return result
