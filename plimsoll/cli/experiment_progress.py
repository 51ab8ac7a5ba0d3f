"""An experiment's progress on standard error: each cell's start and end, and a status."""

from plimsoll import words
from plimsoll.cli.progress import Lines
from plimsoll.model.experiment_record import CellStatus, ExperimentStatus


class ExperimentProgress(Lines):
    """Prints what has happened in an experiment since the last look at it."""

    def show(self, now: ExperimentStatus) -> None:
        """Print what is new."""
        for cell in now.cells:
            if cell.state is not None:
                self.say(f"{cell.name}: started")
            if cell.state is not None and cell.state.ended:
                self.say(f"{cell.name}: {_outcome(cell)}")
        running = ", ".join(f"{cell.name} ({_doing(cell)})" for cell in now.running)
        done = f"{now.ended} of {len(now.cells)} cells done"
        elapsed = words.duration(round(self.elapsed_s))
        self.status(f"{done} · running: {running or 'none'} · {elapsed} elapsed")
        if now.record.state.ended:
            self.say(f"{done}; every target is gone")


def _doing(cell: CellStatus) -> str:
    return "waits for its pair" if cell.waits_for_pair else str(cell.phase)


def _outcome(cell: CellStatus) -> str:
    if cell.verdict is None:
        return f"ended {cell.state}"
    figure = cell.capacity_ops_per_second
    return cell.verdict + (f", {words.throughput(float(figure))}" if figure else "")
