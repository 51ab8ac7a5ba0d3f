"""An experiment's progress on standard error: each cell's start and end, and a status."""

from plimsoll import words
from plimsoll.cli.progress import Lines
from plimsoll.model.experiment_record import CellStatus, DatasetOutcome, ExperimentStatus


class ExperimentProgress(Lines):
    """Prints what has happened in an experiment since the last look at it."""

    def show(self, now: ExperimentStatus) -> None:
        """Print what is new."""
        self._tell_datasets(now)
        for cell in now.cells:
            if cell.state is not None:
                self.say(f"{cell.name}: started")
            if cell.state is not None and cell.state.ended:
                self.say(f"{cell.name}: {_outcome(cell)}")
        going = [f"{one.name} ({one.phase})" for one in now.datasets if _goes_on(one)]
        going += [f"{cell.name} ({_doing(cell)})" for cell in now.running]
        running = ", ".join(going)
        done = f"{now.ended} of {len(now.cells)} cells done"
        elapsed = words.duration(round(self.elapsed_s))
        self.status(f"{done} · running: {running or 'none'} · {elapsed} elapsed")
        if now.record.state.ended:
            gone = "target and snapshot" if now.datasets else "target"
            self.say(f"{done}; every {gone} is gone")

    def _tell_datasets(self, now: ExperimentStatus) -> None:
        """Say how many datasets are prepared once, and how each came out."""
        if now.datasets:
            datasets = words.plural(len(now.datasets), "dataset")
            self.say(f"{datasets} prepared once, for {words.plural(len(now.cells), 'run')}")
        for one in now.datasets:
            if one.state is not None and one.state.ended:
                size = f", {one.layout.size_words}" if one.layout else ""
                kept = f"kept as a snapshot{size}" if one.snapshot else "no snapshot"
                self.say(f"{one.name}: {one.state}, {kept}")


def _goes_on(one: DatasetOutcome) -> bool:
    return one.state is not None and not one.state.ended


def _doing(cell: CellStatus) -> str:
    return "waits for its pair" if cell.waits_for_pair else str(cell.phase)


def _outcome(cell: CellStatus) -> str:
    if cell.verdict is None:
        return f"ended {cell.state}"
    figure = cell.capacity_ops_per_second
    if figure is None:
        return cell.verdict
    return f"{cell.verdict}, {words.bounded(words.throughput(float(figure)), cell.bound)}"
