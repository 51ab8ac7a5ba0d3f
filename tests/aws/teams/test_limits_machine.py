"""Whatever order runs are submitted, end, crash and are reconciled in, the counters stay true."""

import json
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from plimsoll.aws.run_records import records_of
from plimsoll.errors import LimitReachedError
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.deployment.function_settings import StopSettings
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.teams.limits import Limits
from plimsoll.teams.reconcile import LASTS_AT_MOST, reconcile_teams
from plimsoll.teams.room import Ask
from tests.support.aws_resources import ACCOUNT, BUCKET, REGION, RUNS_TABLE, SERVICE_TABLE
from tests.support.service_table import service_table

TEAM = Team(concurrent_runs=3, clients=60, provisioned_iops=5000, spend_usd_per_month=50.0)
RUNS = st.sampled_from([f"run-{number}" for number in range(6)])
BEGIN = datetime(2026, 11, 1, tzinfo=UTC)


class Submissions(RuleBasedStateMachine):
    """Its model: which runs hold what, and what the month has cost."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self.holds: dict[str, Ask] = {}
        self.spent_micro = 0
        self.now = BEGIN

    @initialize()
    def begin(self) -> None:
        self._stack.enter_context(service_table())
        self.limits = Limits(SERVICE_TABLE, "dba", TEAM)
        self.deployment = StopSettings(
            results_bucket=BUCKET,
            runs_table=RUNS_TABLE,
            service_table=SERVICE_TABLE,
            teams=json.dumps({"dba": TEAM.model_dump()}),
            run_machine_arn=f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:plimsoll-run",
        )

    def teardown(self) -> None:
        self._stack.close()

    @rule(
        run=RUNS,
        clients=st.integers(1, 40),
        iops=st.sampled_from([0, 1000, 3000]),
        usd=st.integers(0, 20),
        recorded=st.booleans(),
    )
    def submit(self, run: str, clients: int, iops: int, usd: int, *, recorded: bool) -> None:
        asked = Ask(clients=clients, iops=iops, usd_most=float(usd))
        try:
            taken = self.limits.acquire(run, asked, at=self.now)
        except LimitReachedError:
            assert run not in self.holds
            assert not self._fits(asked)
            return
        assert taken == (run not in self.holds)
        if taken:
            assert self._fits(asked)
            self.holds[run] = asked
        if recorded:  # else the submitter dies here
            self._record(run, RunState.RUNNING)

    @rule(run=RUNS, usd=st.integers(0, 20))
    def end(self, run: str, usd: int) -> None:
        released = self.limits.release(run, usd=float(usd))
        assert released == (run in self.holds)
        if released:
            self.spent_micro += usd * 10**6
            del self.holds[run]

    @rule(run=RUNS)
    def end_without_release(self, run: str) -> None:
        """The function that should have given the share back crashes."""
        if run in self.holds:
            self._record(run, RunState.FAILED, cost_usd="1.5")

    @rule(hours=st.sampled_from([0, 1, 24, 96]))
    def janitor(self, hours: int) -> None:
        self.now = min(self.now + timedelta(hours=hours), BEGIN + timedelta(days=29))
        records = {run: records_of(self.deployment).find(run) for run in self.holds}
        grants = self.limits.read_grants()
        released = reconcile_teams(self.deployment, at=self.now)
        for run, record in records.items():
            held_for = self.now - grants[run].at
            ended = record is not None and record.state.ended
            forgotten = record is None and held_for > timedelta(hours=1)
            assert (run in released) == (ended or forgotten or held_for > LASTS_AT_MOST), run
            if run in released:
                asked = self.holds.pop(run)
                most = round((asked.usd_most or 0.0) * 10**6)
                self.spent_micro += 1_500_000 if ended else 0 if record is None else most

    @invariant()
    def the_counters_are_what_runs_hold(self) -> None:
        counted = self.limits.read_counters()
        assert set(self.limits.read_grants()) == set(self.holds)
        assert counted.get("runs", 0) == len(self.holds) <= 3
        assert counted.get("clients", 0) == sum(a.clients for a in self.holds.values()) <= 60
        assert counted.get("iops", 0) == sum(a.iops for a in self.holds.values()) <= 5000
        committed = sum(round((a.usd_most or 0.0) * 10**6) for a in self.holds.values())
        assert counted.get("usd_2026_11", 0) == self.spent_micro + committed

    def _fits(self, asked: Ask) -> bool:
        held = self.holds.values()
        usd = self.spent_micro / 10**6 + sum(a.usd_most or 0.0 for a in held)
        return (
            len(held) < 3
            and sum(a.clients for a in held) + asked.clients <= 60
            and sum(a.iops for a in held) + asked.iops <= 5000
            and usd + (asked.usd_most or 0.0) <= 50
        )

    def _record(self, run: str, state: RunState, cost_usd: str | None = None) -> None:
        changed = records_of(self.deployment).change(run, state=state, cost_usd=cost_usd)
        if not changed:
            records_of(self.deployment).create(
                RunRecord(
                    run_id=run,
                    name=run,
                    team="dba",
                    state=state,
                    request_sha256="0" * 64,
                    submitted_at=self.now,
                    started_at=self.now,
                    time_limit_s=7200,
                    cost_usd=cost_usd,
                )
            )


TestSubmissions = Submissions.TestCase
TestSubmissions.settings = settings(
    max_examples=5,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
