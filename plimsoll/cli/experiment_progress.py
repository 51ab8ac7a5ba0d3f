"""An experiment's progress on standard error: each cell's start and end, and a status."""

from plimsoll.cli.progress import Lines
from plimsoll.cli.wording import minutes
from plimsoll.model.experiment_record import CellStatus, ExperimentStatus


class ExperimentProgress(Lines):
    """Tells what has happened since it was last told."""

    def show(self, now: ExperimentStatus) -> None:
        """Tell what is new."""
        for cell in now.cells:
            if cell.state is not None:
                self.say(f"{cell.name}: started")
            if cell.state is not None and cell.state.ended:
                self.say(f"{cell.name}: {_came_to(cell)}")
        running = ", ".join(f"{cell.name} ({cell.phase})" for cell in now.running)
        done = f"{now.ended} of {len(now.cells)} cells done"
        self.status(f"{done} · running: {running or 'none'} · {minutes(self.elapsed_s)} elapsed")
        if now.record.state.ended:
            self.say(f"{done}; every target is gone")


def _came_to(cell: CellStatus) -> str:
    if cell.verdict is None:
        return f"ended {cell.state}"
    figure = cell.capacity_ops_per_second
    return cell.verdict + (f", {float(figure):,.0f} ops/s" if figure else "")
