"""One page in CloudWatch: the runs, the fleet, the targets, and the alarms."""

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from plimsoll.model.timings import AWS_TIMINGS

MINUTE = Duration.minutes(1)
TARGET_METRICS = {
    "Volume operations per second": ("ReadIOPS", "WriteIOPS"),
    "Volume bytes per second": ("ReadThroughput", "WriteThroughput"),
    "Operations waiting for the volume": ("DiskQueueDepth",),
    "CPU and burst balance, percent": ("CPUUtilization", "BurstBalance"),
}


class DashboardPart(Construct):
    """What an operator looks at while runs are under way."""

    def __init__(
        self,
        scope: Construct,
        *,
        machines: Mapping[str, sfn.StateMachine],
        load_client: lambda_.Function,
        alarms: Sequence[cloudwatch.IAlarm],
    ) -> None:
        super().__init__(scope, "Dashboard")
        page = cloudwatch.Dashboard(
            self,
            "Page",
            dashboard_name=Stack.of(self).stack_name,
            default_interval=Duration.hours(3),
        )
        page.add_widgets(
            cloudwatch.AlarmStatusWidget(title="Promises", alarms=list(alarms), width=24, height=3)
        )
        page.add_widgets(*[self._machine(name, machine) for name, machine in machines.items()])
        page.add_widgets(*self._fleet(load_client))
        page.add_widgets(*[self._target(title, names) for title, names in TARGET_METRICS.items()])

    def _machine(self, name: str, machine: sfn.StateMachine) -> cloudwatch.GraphWidget:
        return cloudwatch.GraphWidget(
            title=f"Executions: {name}",
            width=12,
            left=[
                getattr(machine, f"metric_{ending}")(statistic="Sum")
                for ending in ("started", "succeeded", "failed", "timed_out", "aborted")
            ],
        )

    def _fleet(self, load_client: lambda_.Function) -> list[cloudwatch.GraphWidget]:
        return [
            cloudwatch.GraphWidget(
                title="Load clients at once",
                width=12,
                left=[
                    load_client.metric("ConcurrentExecutions", statistic="Maximum", period=MINUTE)
                ],
            ),
            cloudwatch.GraphWidget(
                title="Load clients that failed or were refused",
                width=12,
                left=[
                    load_client.metric_errors(statistic="Sum", period=MINUTE),
                    load_client.metric_throttles(statistic="Sum", period=MINUTE),
                ],
            ),
        ]

    def _target(self, title: str, names: tuple[str, ...]) -> cloudwatch.GraphWidget:
        """Targets come and go: the search finds those that there are."""
        return cloudwatch.GraphWidget(
            title=f"Targets: {title}",
            width=12,
            left=[
                cloudwatch.MathExpression(
                    expression=(
                        "SEARCH('{AWS/RDS,DBInstanceIdentifier} "
                        f'MetricName="{name}" DBInstanceIdentifier="plimsoll"\', '
                        f"'Average', {AWS_TIMINGS.metric_period_s})"
                    ),
                    label=name,
                    using_metrics={},
                    period=MINUTE,
                )
                for name in names
            ],
        )
