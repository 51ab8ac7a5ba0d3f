"""The CloudWatch dashboard: alarms, targets, runs, spend, and the fleet."""

from collections.abc import Iterator, Mapping, Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from plimsoll.metrics.panels import NAMESPACE, PANELS, Metric, Panel
from plimsoll.model.deployment.deployment import DeploymentConfig
from plimsoll.model.deployment.rules import JANITOR
from plimsoll.model.timings import AWS_TIMINGS
from stacks.fleet import LOAD_CLIENT

MINUTE = Duration.minutes(1)
TOLD_EVERY = Duration.minutes(JANITOR.every_minutes)  # the janitor's schedule
GROUPS_MOST = 50  # log groups of a query
ANY_RUN = "RUN_ID"  # the dashboard's field replaces it
ALL_OF_A_RUN = (
    f"filter correlation_id like '{ANY_RUN}' or execution_arn like '{ANY_RUN}'",
    "fields coalesce(service, type) as what, coalesce(message, details.name) as said",
    "display @timestamp, what, said, step, client, duration_ms, cold_start, error, request_id",
    "sort @timestamp",
    "limit 1000",
)
ENDS = (
    "filter ispresent(run_ended)",
    "sort @timestamp desc",
    "display ended_at, run_ended, team, name, state, verdict, bound, capacity_ops_per_second, usd",
    "limit 50",
)


def dashboard_url(stack: Stack) -> str:
    """Return the dashboard's address; a query with the time range may follow."""
    console = f"https://{stack.region}.console.aws.amazon.com/cloudwatch/home"
    return f"{console}?region={stack.region}#dashboards/dashboard/{stack.stack_name}"


class DashboardPart(Construct):
    """What an operator looks at while runs are under way."""

    def __init__(
        self,
        scope: Construct,
        *,
        machines: Mapping[str, sfn.StateMachine],
        functions: Mapping[str, lambda_.Function],
        in_other_zones: Mapping[str, Sequence[lambda_.Function]],
        machine_logs: Mapping[str, logs.ILogGroup],
        alarms: Sequence[cloudwatch.IAlarm],
        config: DeploymentConfig,
    ) -> None:
        super().__init__(scope, "Dashboard")
        self._stack = Stack.of(self)
        page = cloudwatch.Dashboard(
            self,
            "Page",
            dashboard_name=self._stack.stack_name,
            default_interval=Duration.hours(3),
            variables=[
                cloudwatch.DashboardVariable(
                    id="run",
                    type=cloudwatch.VariableType.PATTERN,
                    label="Run or experiment (id)",
                    input_type=cloudwatch.VariableInputType.INPUT,
                    value=ANY_RUN,
                    default_value=cloudwatch.DefaultValue.value(ANY_RUN),
                )
            ],
        )
        page.add_widgets(
            cloudwatch.AlarmStatusWidget(title="Promises", alarms=list(alarms), width=24, height=3)
        )
        page.add_widgets(*self._make_janitor_graphs())
        page.add_widgets(
            cloudwatch.LogQueryWidget(
                title="Runs that ended, newest first; costs are estimates by list prices",
                log_group_names=[functions["end-run"].log_group.log_group_name],
                query_lines=list(ENDS),
                width=24,
                height=8,
            )
        )
        others = [function for more in in_other_zones.values() for function in more]
        groups = [
            *(function.log_group for function in functions.values()),
            *machine_logs.values(),
            *(function.log_group for function in others),
        ]
        page.add_widgets(
            cloudwatch.LogQueryWidget(
                title="All of a run: calls of functions and states of its workflow",
                log_group_names=[group.log_group_name for group in groups[:GROUPS_MOST]],
                query_lines=list(ALL_OF_A_RUN),
                width=24,
                height=8,
            )
        )
        page.add_widgets(
            *[self._make_executions_graph(name, machine) for name, machine in machines.items()]
        )
        page.add_widgets(*self._make_fleet_graphs(functions[LOAD_CLIENT]))
        page.add_widgets(*self._make_panels(told_of_runs=config.metrics.kind == "cloudwatch"))

    def _make_janitor_graphs(self) -> Iterator[cloudwatch.GraphWidget]:
        """Yield graphs of the janitor's counts, which have a point every quarter of an hour."""
        alive = self._make_metric(
            "targets_alive", {"deployment": self._stack.stack_name}, "all teams"
        )
        yield self._make_graph("Targets alive in this account and region", [alive])
        yield self._make_graph(
            "Runs under way, by team", [self._make_team_metrics("runs_under_way")]
        )
        spent = "Spend this month, USD: runs that ended as estimated, others at their most"
        yield self._make_graph(spent, [self._make_team_metrics("spend_usd")])

    def _make_team_metrics(self, name: str) -> cloudwatch.MathExpression:
        """Return a line for each team that the janitor counts: `plimsoll team` adds some."""
        schema = f'{{"{self._stack.stack_name}",team}} MetricName="{name}"'
        return cloudwatch.MathExpression(
            expression=f"SEARCH('{schema}', 'Maximum', {TOLD_EVERY.to_seconds():.0f})",
            label="${PROP('Dim.team')}",
            using_metrics={},
            period=TOLD_EVERY,
        )

    def _make_metric(self, name: str, of: Mapping[str, str], label: str) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace=self._stack.stack_name,
            metric_name=name,
            dimensions_map=dict(of),
            label=label,
            statistic="Maximum",
            period=TOLD_EVERY,
        )

    def _make_graph(
        self, title: str, metrics: Sequence[cloudwatch.IMetric]
    ) -> cloudwatch.GraphWidget:
        return cloudwatch.GraphWidget(
            title=title,
            width=8,
            left=list(metrics),
            left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
        )

    def _make_executions_graph(
        self, name: str, machine: sfn.StateMachine
    ) -> cloudwatch.GraphWidget:
        return cloudwatch.GraphWidget(
            title=f"Executions: {name}",
            width=12,
            left=[
                getattr(machine, f"metric_{ending}")(statistic="Sum")
                for ending in ("started", "succeeded", "failed", "timed_out", "aborted")
            ],
        )

    def _make_fleet_graphs(self, load_client: lambda_.Function) -> list[cloudwatch.GraphWidget]:
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

    def _make_panels(self, *, told_of_runs: bool) -> Iterator[cloudwatch.GraphWidget]:
        """Yield the panels that CloudWatch can fill: RDS targets, and runs if it gets metrics."""
        for panel in PANELS:
            metrics = [m for m in panel.cloudwatch if told_of_runs or m.namespace != NAMESPACE]
            if metrics:
                yield self._make_panel(panel, metrics)

    def _make_panel(self, panel: Panel, metrics: Sequence[Metric]) -> cloudwatch.GraphWidget:
        return cloudwatch.GraphWidget(
            title=panel.title,
            width=12,
            left=[
                cloudwatch.MathExpression(
                    expression=self._write_search(metric),
                    label=metric.name,
                    using_metrics={},
                    period=MINUTE,
                )
                for metric in metrics
            ],
        )

    def _write_search(self, metric: Metric) -> str:
        """Return a search for a metric over all runs, since runs come and go."""
        own = metric.namespace == NAMESPACE
        namespace = f'"{self._stack.stack_name}"' if own else metric.namespace
        only = "" if own else ' DBInstanceIdentifier="plimsoll"'
        schema = ",".join((namespace, *metric.dimensions))
        return (
            f"SEARCH('{{{schema}}} MetricName=\"{metric.name}\"{only}', 'Average',"
            f" {AWS_TIMINGS.metric_period_s})"
        )
