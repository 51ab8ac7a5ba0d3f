"""The time constants of a deployment, and assumed times on AWS for quotes.

Functions get the constants as settings, on AWS and on one machine. Quotes are for AWS and use the
constants of AWS.
"""

from plimsoll.model.base import Model
from plimsoll.model.engine.asked import POLL_US
from plimsoll.model.metric_periods import PATIENCE_PERIODS
from plimsoll.model.settings import Setting


class Timings(Model):
    """The time constants of a deployment."""

    poll_s: int  # between two checks of a stack, or of an experiment's runs
    lead_ms: int  # from planning a step to its barrier, for a step of any size
    lead_ms_per_client: int  # added per client
    poll_us: int  # longest busy-poll of a client for a reply, unless the request sets it
    metric_period_s: int  # period of a target's metrics in CloudWatch
    teardown_patience_s: int  # how long a failing deletion is retried

    def lead_s(self, clients: float) -> float:
        """Return the seconds from planning a step to its barrier, for a number of clients."""
        return (self.lead_ms + self.lead_ms_per_client * clients) / 1000

    @property
    def settings(self) -> dict[Setting, str]:
        """The settings by which functions get these constants."""
        return {
            Setting.POLL_SECONDS: str(self.poll_s),
            Setting.START_LEAD_MS: str(self.lead_ms),
            Setting.START_LEAD_MS_PER_CLIENT: str(self.lead_ms_per_client),
            Setting.POLL_US: str(self.poll_us),
            Setting.METRIC_PERIOD_SECONDS: str(self.metric_period_s),
            Setting.TEARDOWN_PATIENCE_SECONDS: str(self.teardown_patience_s),
        }


# How fast a fleet starts on AWS: Lambda creates 1,000 environments of a function at once and 1,000
# more every 10 s, and refuses calls that come faster; Step Functions starts 1,300 children of a
# Distributed Map at once and 300 more a second (docs.aws.amazon.com/lambda/latest/dg/
# lambda-concurrency.html, docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html).
ENVIRONMENTS_AT_ONCE, ENVIRONMENTS_PER_S = 1_000, 100
CHILDREN_AT_ONCE, CHILDREN_PER_S = 1_300, 300


# Executions of a Distributed Map that run at once, at most (the same page).
CHILDREN_MOST = 10_000

WRITES_PER_S = 2_000  # results of all clients; S3 takes 3,500 a second under one prefix
RELAY_LOOK_S = 15.0  # between two looks of a relay's client whether its run has ended


def count_refused_calls(clients: float) -> float:
    """Return how often Lambda refuses a step's clients until it has started all of them.

    A refused client calls again after a second on average (`Client` in run.asl.json), from its
    start by Step Functions to that of its environment by Lambda.

    >>> count_refused_calls(1_000), round(count_refused_calls(5_000))
    (0.0, 57183)
    """
    starting = max(0.0, clients - ENVIRONMENTS_AT_ONCE) ** 2 / (2 * ENVIRONMENTS_PER_S)
    arriving = max(0.0, clients - CHILDREN_AT_ONCE) ** 2 / (2 * CHILDREN_PER_S)
    return starting - arriving


# The lead covers cold starts: a client attaches to the VPC in seconds, and Lambda starts 1,000 more
# clients every 10 s. The teardown patience is the longest STACK_CREATION: RDS refuses to delete an
# instance while it is being created. Clients busy-poll: each has its own vCPU and pays for time,
# not for CPU time.
AWS_TIMINGS = Timings(
    poll_s=15,
    lead_ms=20_000,
    lead_ms_per_client=1000 // ENVIRONMENTS_PER_S,
    poll_us=POLL_US,
    metric_period_s=60,
    teardown_patience_s=1800,
)
# docs/local.md: 100 cold clients share two cores with the database, so none busy-polls
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
        """Both times in words: `10 minutes, 30 at most`."""
        return f"{self.expected_s / 60:g} minutes, {self.most_s / 60:g} at most"

    def and_then(self, times: int, more: "Assumed") -> "Assumed":
        """Return the time of this followed by `times` repetitions of another, in sequence."""
        return Assumed(
            expected_s=self.expected_s + times * more.expected_s,
            most_s=self.most_s + times * more.most_s,
        )


STACK_CREATION = Assumed(expected_s=600, most_s=1800)
METRICS_ARRIVAL = Assumed(
    expected_s=120, most_s=PATIENCE_PERIODS * AWS_TIMINGS.metric_period_s
)  # after a step's window
STACK_DELETION = Assumed(expected_s=300, most_s=900)
# A cluster's further nodes are each created and deleted on their own.
NODE_CREATION = Assumed(expected_s=180, most_s=600)
NODE_DELETION = Assumed(expected_s=60, most_s=180)
INSTANCE_RESTART = Assumed(expected_s=120, most_s=600)  # to apply new parameters
