"""Safeguards against targets left behind: rules, the janitor and alarms."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Duration, Stack, Validations
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from plimsoll.model.deployment.deployment import DeploymentConfig
from plimsoll.model.deployment.rules import ALARMS_TOPIC, EXECUTION_RULES, JANITOR, ExecutionRule
from stacks.event_bus import to_event_pattern

JANITOR_INTERVAL = Duration.minutes(JANITOR.every_minutes)


class AlarmsPart(Construct):
    """The topic of alarms, and the addresses that the configuration names."""

    def __init__(self, scope: Construct, config: DeploymentConfig) -> None:
        super().__init__(scope, "Alarms")
        self.topic = sns.Topic(
            self, "Topic", display_name=ALARMS_TOPIC.display_name, enforce_ssl=True
        )
        for address in config.alarm_addresses:
            self.topic.add_subscription(subscriptions.EmailSubscription(address))
        for service in ("budgets", "cloudwatch"):
            self.topic.add_to_resource_policy(
                iam.PolicyStatement(
                    principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
                    actions=["sns:Publish"],
                    resources=[self.topic.topic_arn],
                    conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
                )
            )
        Validations.of(self.topic).acknowledge(
            Acknowledgment(
                id="AwsSolutions-SNS2",
                reason="alarms name runs and stacks, no data; CloudWatch cannot publish to a topic"
                " under AWS's own key, and a key of our own costs by the month",
            )
        )


class WatchPart(Construct):
    """Rules for ends that no `Catch` sees, and an alarm for each way of leaving a target behind."""

    def __init__(
        self,
        scope: Construct,
        *,
        config: DeploymentConfig,
        topic: sns.ITopic,
        machines: Mapping[str, sfn.StateMachine],
        janitor: lambda_.Function,
    ) -> None:
        super().__init__(scope, "Watch")
        self._action = actions.SnsAction(topic)
        self.alarms: list[cloudwatch.Alarm] = []
        undelivered = self._dead_letters()
        for rule in EXECUTION_RULES:
            self._execution_rule(rule, machines, undelivered)
        self._start_janitor(janitor)
        self._watch_teardown(machines["teardown"], undelivered)
        self._watch_experiment_end(machines["experiment-end"])
        self._watch_janitor(janitor)
        for team, limits in config.teams.items() if config.spend_alarms else ():
            if limits.spend_usd_per_month is not None:
                self._watch_spend(team, limits.spend_usd_per_month, topic)

    def _dead_letters(self) -> sqs.Queue:
        undelivered = sqs.Queue(
            self,
            "Undelivered",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        Validations.of(undelivered).acknowledge(
            Acknowledgment(id="AwsSolutions-SQS3", reason="it is the dead-letter queue itself")
        )
        return undelivered

    def _execution_rule(
        self,
        rule: ExecutionRule,
        machines: Mapping[str, sfn.StateMachine],
        undelivered: sqs.Queue,
    ) -> None:
        """Start a machine when executions of another one end."""
        started_with = {
            field: events.EventField.from_path(path) for field, path in rule.input_paths.items()
        }
        events.Rule(
            self,
            f"{rule.machine.capitalize()}Ended",
            description=rule.summary,
            event_pattern=to_event_pattern(rule.pattern(machines[rule.machine].state_machine_arn)),
            targets=[
                targets.SfnStateMachine(
                    machines[rule.starts],
                    input=events.RuleTargetInput.from_object(started_with),
                    dead_letter_queue=undelivered,
                    retry_attempts=185,
                    max_event_age=Duration.hours(24),
                )
            ],
        )

    def _start_janitor(self, janitor: lambda_.Function) -> None:
        events.Rule(
            self,
            "Janitor",
            description=JANITOR.summary,
            schedule=events.Schedule.rate(JANITOR_INTERVAL),
            targets=[targets.LambdaFunction(janitor)],
        )

    def _watch_teardown(self, teardown: sfn.StateMachine, undelivered: sqs.Queue) -> None:
        for ending in ("failed", "timed_out", "aborted"):
            words = ending.title().replace("_", "")
            self._alarm(
                f"Teardown{words}",
                f"The teardown of a run {ending.replace('_', ' ')}: its target may be alive",
                getattr(teardown, f"metric_{ending}")(period=JANITOR_INTERVAL, statistic="Sum"),
            )
        self._alarm(
            "TeardownNotStarted",
            "A run ended and its teardown did not start: its target may be alive",
            undelivered.metric_approximate_number_of_messages_visible(
                period=Duration.minutes(5), statistic="Maximum"
            ),
        )

    def _watch_experiment_end(self, machine: sfn.StateMachine) -> None:
        for ending in ("failed", "timed_out", "aborted"):
            self._alarm(
                f"ExperimentEnd{ending.title().replace('_', '')}",
                f"The teardown of an experiment {ending.replace('_', ' ')}: its runs may go on",
                getattr(machine, f"metric_{ending}")(period=JANITOR_INTERVAL, statistic="Sum"),
            )

    def _watch_janitor(self, janitor: lambda_.Function) -> None:
        expired = logs.MetricFilter(
            self,
            "ExpiredTargets",
            log_group=janitor.log_group,
            filter_pattern=logs.FilterPattern.exists("$.expired_target"),
            metric_namespace=Stack.of(self).stack_name,
            metric_name="ExpiredTargets",
            metric_value="1",
        )
        self._alarm(
            "TargetPastItsLimit",
            "The janitor found a target that outlived its run's time limit",
            expired.metric(period=JANITOR_INTERVAL, statistic="Sum"),
        )
        self._alarm(
            "JanitorFailed",
            "The janitor failed twice in a row: look for targets by hand",
            janitor.metric_errors(period=JANITOR_INTERVAL, statistic="Sum"),
            periods=2,
        )
        # A metric without any point is no janitor that is absent, but one that is yet to come: the
        # sum of the hours seen is 0 until it has run, and `FILL` gives nothing if it never has.
        self._alarm(
            "JanitorAbsent",
            "The janitor has not run for an hour: look for targets by hand",
            cloudwatch.MathExpression(
                expression="IF(RUNNING_SUM(FILL(runs, 0)) > 0 AND FILL(runs, 0) < 1, 1, 0)",
                label="hours without the janitor",
                using_metrics={
                    "runs": janitor.metric_invocations(period=Duration.hours(1), statistic="Sum")
                },
                period=Duration.hours(1),
            ),
            within=24,
        )

    def _alarm(
        self,
        name: str,
        description: str,
        metric: cloudwatch.IMetric,
        *,
        periods: int = 1,
        within: int | None = None,
    ) -> None:
        """Create an alarm on a metric that reaches 1.

        Args:
            name: The alarm's name.
            description: The alarm's text for people.
            metric: The metric.
            periods: The number of periods in which it reaches 1.
            within: The number of latest periods in which these are; None for the same.
        """
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_description=description,
            metric=metric,
            threshold=1,
            evaluation_periods=within or periods,
            datapoints_to_alarm=periods,
            comparison_operator=(cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD),
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(self._action)
        self.alarms.append(alarm)

    def _watch_spend(self, team: str, limit_usd: float, topic: sns.ITopic) -> None:
        """Alarm on a team's spend, seen by its targets' tag once that is a cost allocation tag."""
        notify = [
            budgets.CfnBudget.NotificationWithSubscribersProperty(
                notification=budgets.CfnBudget.NotificationProperty(
                    comparison_operator="GREATER_THAN",
                    notification_type="ACTUAL",
                    threshold=percent,
                    threshold_type="PERCENTAGE",
                ),
                subscribers=[
                    budgets.CfnBudget.SubscriberProperty(
                        address=topic.topic_arn, subscription_type="SNS"
                    )
                ],
            )
            for percent in (80, 100)
        ]
        budgets.CfnBudget(
            self,
            f"Spend-{team}",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=limit_usd, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:plimsoll:team${team}"]},
            ),
            notifications_with_subscribers=notify,
        )
