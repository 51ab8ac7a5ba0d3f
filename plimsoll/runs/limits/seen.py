"""The step that shows the limit, with all that was measured of it."""

from dataclasses import dataclass

from plimsoll.capacity.under_way import weights_of
from plimsoll.families.family import family_of
from plimsoll.model.results import ServerWaits, StepResult
from plimsoll.model.target_figures import TargetFigures
from plimsoll.model.volumes import VolumeLimits

NOTHING_KNOWN = TargetFigures(period_s=0, points=0)
SCATTER = 0.25  # of the operations under way


@dataclass(frozen=True)
class Seen:
    """A step.

    Attributes:
        step: That which shows the limit.
        volume: What its target's volume promises; None: not known.
        lightest: A step of the lightest load.
    """

    step: StepResult
    volume: VolumeLimits | None
    lightest: StepResult | None = None

    @property
    def target(self) -> TargetFigures:
        """CloudWatch's figures; each None where there is no point."""
        return self.step.target or NOTHING_KNOWN

    @property
    def waits(self) -> ServerWaits:
        """What the server says of its waits."""
        before, server = self.step.plan.server_before, self.step.server
        if before is None or server is None or server.restarted:
            return ServerWaits()
        return family_of(before.family).waits(server)

    @property
    def load_s(self) -> float:
        """How long the load was sent, warm-up included: what counters grew by, they grew in it."""
        return self.step.plan.warmup_s + self.step.plan.duration_s

    @property
    def operations_per_second(self) -> float | None:
        """What succeeded; None where nothing did."""
        return self.step.step.throughput_ops_per_second or None

    @property
    def under_way(self) -> float:
        """The mean number of operations under way: by Little's law, at most the connections."""
        connections = float(self.step.plan.connections)
        return min(connections, self._under_way_with(self.step) or connections)

    @property
    def added_by_load(self) -> float:
        """How many more are under way than if each took as long as under the lightest load.

        At least a quarter of all: less than that is within what latencies scatter.
        """
        if self.lightest is None or self.lightest.plan.index == self.step.plan.index:
            return self.under_way
        at_rest = self._under_way_with(self.lightest) or 0.0
        return max(self.under_way - at_rest, self.under_way * SCATTER)

    def _under_way_with(self, other: StepResult) -> float | None:
        """Count the operations under way at this throughput with another step's mean latencies."""
        step, latency_us = self.step.step, other.step.latency_us
        means = {name: one["mean"] for name, one in latency_us.items() if "mean" in one}
        weighed = weights_of(step, means)
        if step.throughput_ops_per_second is None or weighed is None:
            return None
        mean_us = sum(weighed[0][name] * mean for name, mean in means.items())
        return step.throughput_ops_per_second * mean_us / 1e6

    @property
    def lacks_devices(self) -> bool:
        """Whether neither the server's processor time nor its volume's promise is known."""
        return self.target.cpu_percent is None and self.volume is None

    def each(self, per_second: float) -> float | None:
        """How much of something each operation took."""
        return None if not self.operations_per_second else per_second / self.operations_per_second
