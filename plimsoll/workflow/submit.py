"""Submits a run. However often it is sent, it is recorded once and started once."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from plimsoll.aws import clients
from plimsoll.aws.drain import require_no_drain
from plimsoll.aws.run_files import QUOTE, REQUEST, files_of
from plimsoll.aws.run_records import now, records_of
from plimsoll.complaints import Complaint
from plimsoll.errors import LimitReachedError, UsageError
from plimsoll.model.deployment.function_settings import RunSettings, SubmitSettings, TeamSettings
from plimsoll.model.rds_versions import require_unended
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.experiment import Turn
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Request, Target
from plimsoll.model.run.quote import Quote
from plimsoll.model.run.run_record import Failure, Restored, RunRecord, RunState
from plimsoll.quoting.budget import divide_budget
from plimsoll.quoting.extents import Given, find_dataset_source
from plimsoll.quoting.prices import override_prices
from plimsoll.quoting.quotes import estimate_quote, require_stand_in
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.requests.client_connections import require_openable_connections
from plimsoll.targets.engine_version import AskRds, resolve_database_version, resolve_rds_version
from plimsoll.teams.limits import find_team_limits
from plimsoll.teams.reconcile import reconcile_team
from plimsoll.teams.registry import find_team
from plimsoll.teams.room import Ask, Room, compute_ask
from plimsoll.workflow.endpoint import find_endpoint_addresses

STARTED_WITHIN = timedelta(minutes=2)  # callers of `submit_run` have no more time than that


def name_run(team: str, idempotency_key: str | None) -> str:
    """Name a run by the time and a random number, or by its key, so that equal keys are one run."""
    if idempotency_key is None:
        return f"{now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
    digest = hashlib.sha256(f"{team}\0{idempotency_key}".encode()).hexdigest()
    return f"key-{digest[:24]}"


def submit_run(
    settings: SubmitSettings,
    checked: CheckedRequest,
    *,
    idempotency_key: str | None = None,
) -> str:
    """Record a run and start its workflow; return its id.

    Args:
        settings: The deployment's settings.
        checked: The run's request.
        idempotency_key: A name chosen by the caller. The same key with the same request gives the
            same run.

    Raises:
        UsageError: The deployment has no targets of this kind or does not allow load on the
            endpoint, RDS does not offer the engine version, a client on Lambda could not open its
            connections, the budget cannot suffice, faults are requested on AWS, or the key was used
            for another request.
        LimitReachedError: A limit of the team leaves no room for it.
        DrainingError: The deployment starts no new runs for a while.
    """
    require_no_drain(settings.service_table, now())
    team = checked.request.team
    run_id = name_run(team, idempotency_key)
    created = record_request(
        settings,
        checked,
        run_id=run_id,
        idempotency_key=idempotency_key,
        begins_within=STARTED_WITHIN,
        in_drain=False,
    )
    try:
        start_execution(settings.run_machine_arn, run_id)
    except Exception:
        if created:
            give_up_run(settings, run_id, team)
        raise
    return run_id


def record_request(
    settings: SubmitSettings,
    checked: CheckedRequest,
    *,
    run_id: str,
    idempotency_key: str | None = None,
    begins_within: timedelta = timedelta(hours=1),
    turn: Turn | None = None,
    restores: Restored | None = None,
    prepares_until: datetime | None = None,
    in_drain: bool = True,
) -> bool:
    """Record a run whose workflow something else starts under the run's id.

    The run takes its share of the team's limits first and gives it back when it ends.

    Args:
        settings: The deployment's settings.
        checked: The run's request.
        run_id: The run's name. A run that is recorded already stays unchanged.
        idempotency_key: The key from which the name was made, if any.
        begins_within: The time after which a run that was not started gives its share back.
        turn: The run's turns with another run; None if it takes none.
        restores: The prepared snapshot from which its target is made; None if it loads its dataset.
        prepares_until: The time at which the snapshot that it prepares is deleted; None if the run
            measures.
        in_drain: Whether it may begin while the deployment is drained: what is part of an
            experiment in progress may.

    Returns:
        False if the run was recorded before.

    Raises:
        UsageError: See `submit_run`.
        LimitReachedError: A limit of the team leaves no room for it.
        DrainingError: See `submit_run`.
    """
    request = checked.request
    if settings.on_one_machine:
        require_stand_in(request)
    prepares = prepares_until is not None
    given = find_dataset_source(request, restored=restores is not None, prepares=prepares)
    quoted = _quote_allowed(settings, checked, given)
    results_days = settings.results_days
    body = request.model_dump_json()
    digest = hashlib.sha256(body.encode()).hexdigest()
    submitted_at = now()
    forget_at = submitted_at + timedelta(days=results_days) if results_days else None
    record = RunRecord(
        run_id=run_id,
        name=request.name,
        team=request.team,
        state=RunState.PENDING,
        local=settings.on_one_machine,
        tags=request.tags,
        target_words=describe_target(request.target, version=quoted.database_version),
        quoted_usd=None
        if settings.on_one_machine or quoted.usd is None
        else f"{quoted.usd.expected:.6f}",
        request_sha256=digest,
        submitted_at=submitted_at,
        forget_at_epoch_s=int(forget_at.timestamp()) if forget_at else None,
        time_limit_s=request.time_limit_s,
        budget=divide_budget(request, quoted),
        database_version=quoted.database_version,
        turn=turn,
        restores=restores,
        prepares_until=prepares_until,
    )
    ask = compute_ask(request, quoted)
    created = _create_with_share(settings, record, ask, begins_within, in_drain=in_drain)
    if not created:
        _require_same(settings, run_id, digest, idempotency_key)
    try:
        files = files_of(settings, run_id)
        files.put(REQUEST, body)
        files.put_model(QUOTE, quoted)
    except Exception:
        if created:
            give_up_run(settings, run_id, request.team)
        raise
    return created


def quote_possible_run(
    settings: SubmitSettings,
    checked: CheckedRequest,
    *,
    given: Given | None = None,
    ask: AskRds = resolve_rds_version,
) -> Quote:
    """Quote a run, and refuse one that this deployment would refuse at any time.

    A run without a known price is quoted without a sum, even if the team has limits in dollars. One
    machine quotes what a run would take on AWS, also for a target that it cannot stand in for.

    Args:
        settings: The deployment's settings.
        checked: The run's request.
        given: How its target gets the dataset; None for what the request alone tells.
        ask: The function that asks RDS for a version.

    Raises:
        UsageError: See `submit_run`.
        LimitReachedError: A limit of the team never leaves room for it.
    """
    request = checked.request
    quoted = _quote_allowed(settings, checked, given, ask=ask)
    needed = compute_ask(request, quoted)
    unpriced = needed.model_copy(update={"usd_most": needed.usd_most or 0.0})
    _require_possible_ask(settings, request, unpriced)
    try:
        _require_possible_ask(settings, request, needed)
    except LimitReachedError as error:
        return quoted.model_copy(
            update={"notes": (*quoted.notes, f"It would be refused: {error}.")}
        )
    return quoted


def require_possible_run(
    settings: SubmitSettings,
    checked: CheckedRequest,
    *,
    given: Given | None = None,
    ask: AskRds = resolve_rds_version,
) -> None:
    """Refuse a run that this deployment would refuse at any time, or for want of a price.

    Arguments and errors are those of `quote_possible_run`.
    """
    request = checked.request
    if settings.on_one_machine:
        require_stand_in(request)
    quoted = _quote_allowed(settings, checked, given, ask=ask)
    _require_possible_ask(settings, request, compute_ask(request, quoted))


def _require_possible_ask(settings: TeamSettings, request: Request, needed: Ask) -> None:
    team = find_team(settings, request.team)
    if team is not None:
        Room(request.team, team).require_possible(needed)


def _quote_allowed(
    settings: SubmitSettings,
    checked: CheckedRequest,
    given: Given | None,
    *,
    ask: AskRds = resolve_rds_version,
) -> Quote:
    """Quote a run that deployment and budget allow, whatever room its team's limits leave."""
    request = checked.request
    require_allowed(settings, request)
    if not settings.on_one_machine:
        if find_team(settings, request.team) is None:
            problem = f"{request.team} is not a team of this deployment"
            known = tuple(sorted(settings.teams))
            raise UsageError(Complaint(("team",), problem, request.team, known))
        request.require_nothing_of_one_machine("a run on one machine (--local)")
        require_openable_connections(request)
    version = resolve_version(settings, request.target, ask=ask)
    prices = override_prices(settings.prices)
    given = given or find_dataset_source(request)
    quoted = estimate_quote(checked, prices, database_version=version, given=given)
    divide_budget(request, quoted)
    return quoted


def _create_with_share(
    settings: SubmitSettings,
    record: RunRecord,
    ask: Ask,
    begins_within: timedelta,
    *,
    in_drain: bool,
) -> bool:
    """Record a run together with its share of the limits, in one transaction.

    If there is no room, first release the shares of runs that can no longer begin, then try again.
    """
    records, limits = records_of(settings), find_team_limits(settings, record.team)
    if limits is None:
        return records.create(record)
    if records.find(record.run_id) is not None:  # the first call took its share
        return False
    acquire = partial(
        limits.acquire,
        record.run_id,
        ask,
        at=record.submitted_at,
        begins_within=begins_within,
        together_with=records.put_if_new(record),
        in_drain=in_drain,
    )
    try:
        return acquire() or records.create(record)
    except LimitReachedError as error:
        if not error.waiting_helps or not reconcile_team(settings, record.team, at=now()):
            raise
        return acquire() or records.create(record)


def _require_same(settings: RunSettings, run_id: str, digest: str, key: str | None) -> None:
    if records_of(settings).get(run_id).request_sha256 != digest:
        problem = "was used for another request"
        raise UsageError(Complaint(("Idempotency-Key",), problem, key))


def give_up_run(settings: TeamSettings, run_id: str, team: str) -> None:
    """Give back the share of a run that could not be started; from now on it cannot begin."""
    failure = Failure(phase="record", error="NotStartedError", cause="it could not be started")
    records_of(settings).change(
        run_id, states=(RunState.PENDING,), state=RunState.FAILED, failure=failure, ended_at=now()
    )
    limits = find_team_limits(settings, team)
    record = records_of(settings).find(run_id)
    if limits is not None and (record is None or record.state.ended):
        limits.release(run_id, usd=0.0)


def require_allowed(settings: SubmitSettings, request: Request) -> None:
    """Refuse a target that the deployment does not have or does not allow.

    Raises:
        UsageError: The deployment has no targets of this kind or could not reach them, or does not
            allow load on the endpoint or use of the snapshot.
    """
    settings.require_kind(request.target.kind)
    if not settings.on_one_machine:
        _require_known_authorities(request.target)
    require_allowed_snapshot(request.target.snapshot, settings.allowed_snapshots)
    if isinstance(request.target, EndpointTarget):
        find_endpoint_addresses(request, settings.allowed_endpoints)


def _require_known_authorities(target: Target) -> None:
    """Refuse a target on RDS whose certificate nobody could check: each partition has its own."""
    partition = clients.rds().meta.partition
    if partition != "aws" and isinstance(target, RdsTarget | AuroraTarget):
        problem = (
            f"Plimsoll does not have the certificate authorities of RDS in {partition}, so it could"
            " not connect"
        )
        raise UsageError(Complaint(("target", "kind"), problem, target.kind, ("cassandra",)))


def require_allowed_snapshot(snapshot: str | None, allowed: Sequence[str]) -> None:
    """Refuse a snapshot that the deployment does not allow: a run would read its data.

    Raises:
        UsageError: The snapshot is not in the deployment's list.
    """
    if snapshot is not None and snapshot not in allowed:
        problem = f"{snapshot} is not among the snapshots that this deployment allows"
        path = ("target", "snapshot")
        raise UsageError(Complaint(path, problem, snapshot, tuple(allowed)))


def resolve_version(
    settings: SubmitSettings, target: Target, *, ask: AskRds = resolve_rds_version
) -> str | None:
    """Return the engine version with which a target will be created, as RDS resolves it.

    Args:
        settings: The deployment's settings.
        target: The requested target. For an existing endpoint nothing is created.
        ask: The function that asks RDS.

    Raises:
        UsageError: The version's support has ended, it needs Extended Support, which the request
            does not ask for, or RDS does not offer it.
    """
    if isinstance(target, RdsTarget | AuroraTarget) and not settings.on_one_machine:
        extended, today = target.extended_support, now().date()
        require_unended(target.engine, target.engine_version, on=today, extended_support=extended)
    return resolve_database_version(target, ask)


def start_execution(state_machine_arn: str, run_id: str) -> None:
    """Start a run's workflow; one that was started before stays unchanged."""
    begin_execution(state_machine_arn, run_id, {"run_id": run_id})


def begin_execution(state_machine_arn: str, name: str, given: Mapping[str, str]) -> None:
    """Start a workflow execution by name; one that was started before stays unchanged."""
    client = clients.stepfunctions()
    try:
        client.start_execution(
            stateMachineArn=state_machine_arn, name=name, input=json.dumps(given)
        )
    except client.exceptions.ExecutionAlreadyExists:
        return
