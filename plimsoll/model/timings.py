"""The times that a deployment keeps, and those that its quotes assume.

The functions are told them in their settings, on AWS and on one machine; the quotes, which are of
AWS, reckon with the same ones.
"""

from plimsoll.model.base import Model
from plimsoll.model.engine.asked import POLL_US
from plimsoll.model.metric_periods import PATIENCE_PERIODS
from plimsoll.model.settings import Setting


class Timings(Model):
    """The times of a deployment."""

    poll_s: int  # between two looks at a stack, or at an experiment's runs
    lead_ms: int  # from planning a step to its barrier, whatever its size
    lead_ms_per_client: int  # added to it for each of its clients
    poll_us: int  # how long clients look for answers before they sleep, unless a request says
    metric_period_s: int  # of a target's metrics in CloudWatch
    teardown_patience_s: int  # a deletion that fails is asked for again for so long

    def lead_s(self, clients: float) -> float:
        """Seconds from planning a step of so many clients to its barrier."""
        return (self.lead_ms + self.lead_ms_per_client * clients) / 1000

    @property
    def settings(self) -> dict[Setting, str]:
        """What functions are told of them."""
        return {
            Setting.POLL_SECONDS: str(self.poll_s),
            Setting.START_LEAD_MS: str(self.lead_ms),
            Setting.START_LEAD_MS_PER_CLIENT: str(self.lead_ms_per_client),
            Setting.POLL_US: str(self.poll_us),
            Setting.METRIC_PERIOD_SECONDS: str(self.metric_period_s),
            Setting.TEARDOWN_PATIENCE_SECONDS: str(self.teardown_patience_s),
        }


# The lead is for cold starts: clients attach to the VPC in seconds, and Lambda starts 1,000 more of
# them every 10 s. The patience is STACK_CREATION at most: RDS refuses to delete an instance while
# it is being created.
# A client has a vCPU of its own there and pays for time, not for its processor's: it polls.
AWS_TIMINGS = Timings(
    poll_s=15,
    lead_ms=20_000,
    lead_ms_per_client=10,
    poll_us=POLL_US,
    metric_period_s=60,
    teardown_patience_s=1800,
)
# docs/local.md: 100 cold clients on two cores, which they share with the database: none polls
ONE_MACHINE_TIMINGS = Timings(
    poll_s=1,
    lead_ms=400,
    lead_ms_per_client=90,
    poll_us=0,
    metric_period_s=1,
    teardown_patience_s=60,
)


class Assumed(Model):
    """A time on AWS that has not been measured yet, in seconds."""

    expected_s: float
    most_s: float

    @property
    def in_minutes(self) -> str:
        """Both in words: `10 minutes, 30 at most`."""
        return f"{self.expected_s / 60:g} minutes, {self.most_s / 60:g} at most"

    def and_then(self, times: int, more: "Assumed") -> "Assumed":
        """Add another one so many times over: of what is done one after the other."""
        return Assumed(
            expected_s=self.expected_s + times * more.expected_s,
            most_s=self.most_s + times * more.most_s,
        )


STACK_CREATION = Assumed(expected_s=600, most_s=1800)
METRICS_ARRIVAL = Assumed(
    expected_s=120, most_s=PATIENCE_PERIODS * AWS_TIMINGS.metric_period_s
)  # after a step's window
STACK_DELETION = Assumed(expected_s=300, most_s=900)
# of a cluster's further nodes, each of which is made and goes alone
NODE_CREATION = Assumed(expected_s=180, most_s=600)
NODE_DELETION = Assumed(expected_s=60, most_s=180)
INSTANCE_RESTART = Assumed(expected_s=120, most_s=600)  # with new parameters
