"""All settings of a deployment at once, for tests that call what several functions call."""

import json
from collections.abc import Mapping

from plimsoll.aws.run_files import RunFiles, files_of
from plimsoll.aws.run_records import Records, records_of
from plimsoll.local.deploying import make_default_settings
from plimsoll.model.deployment.function_settings import (
    ApiSettings,
    ArmDeletionSettings,
    AwaitTargetSettings,
    ConcludeSettings,
    CreateTargetSettings,
    DeleteDatasetsSettings,
    DeleteTargetSettings,
    EndRunSettings,
    JanitorSettings,
    JudgeStepSettings,
    PlanStepSettings,
    PricedSettings,
    RecordRunSettings,
    SettleCellsSettings,
    StartCheckSettings,
    SwitchTargetSettings,
    TakeSnapshotSettings,
)
from plimsoll.model.deployment.tables import TABLES
from plimsoll.model.settings import Setting
from plimsoll.model.timings import AWS_TIMINGS


class EverySetting(
    StartCheckSettings,
    ApiSettings,
    TakeSnapshotSettings,
    DeleteDatasetsSettings,
    ArmDeletionSettings,
    AwaitTargetSettings,
    CreateTargetSettings,
    DeleteTargetSettings,
    EndRunSettings,
    JanitorSettings,
    JudgeStepSettings,
    ConcludeSettings,
    PlanStepSettings,
    PricedSettings,
    RecordRunSettings,
    SettleCellsSettings,
    SwitchTargetSettings,
):
    """What any function may be told."""

    @property
    def records(self) -> Records:
        """The runs table."""
        return records_of(self)

    def files(self, run_id: str) -> RunFiles:
        """The files of a run."""
        return files_of(self, run_id)


NO_LIMITS = {"concurrent_runs": 1000, "clients": 100_000, "provisioned_iops": None,
             "usd_per_run": None, "spend_usd_per_month": None}  # fmt: skip


def settings_on_aws(changes: Mapping[Setting, str]) -> EverySetting:
    """Give settings such as functions have on AWS, with tables of `tests.support.aws_resources`."""
    return EverySetting.of_deployment(
        {
            **make_default_settings(),
            **AWS_TIMINGS.settings,
            **{table.setting: table.name for table in TABLES},
            Setting.RESULTS_BUCKET: "results",
            Setting.ON_ONE_MACHINE: "false",
            Setting.TEAMS: json.dumps({"default": NO_LIMITS}),
            **changes,
        }
    )
