"""Audits: checks whether the figures of a step are plausible.

A failed *hard* audit disputes everything that the step shows. A failed *soft* audit only keeps the
step from passing: an overloaded target may well have few operations or differing halves.
"""

from itertools import pairwise

from plimsoll import words
from plimsoll.capacity.statistics.order import OPERATIONS_MIN
from plimsoll.capacity.statistics.trends import is_significant
from plimsoll.capacity.steps.littles_law import audit_littles_law
from plimsoll.model.aws.volumes_seen import ESCAPED_SHARE
from plimsoll.model.judging.capacity import Audit, AuditName, Rules
from plimsoll.model.judging.steps import Statistic, Step
from plimsoll.model.run.fleet import MISSING_SHARE_MOST

SOFT: frozenset[AuditName] = frozenset({"enough_operations", "steady_state"})

CLOCK_SKEW_SHARE = 0.01  # share of the window
CLOCK_SKEW_MS = 100.0  # used if the window is unknown
SERVER_COUNT_SHARE = 0.01
# On one machine only. Above a tenth, its disk is the limit (plimsoll.limiting). Above these values,
# a step says more about this machine than about the target.
HOST_LATE_PERCENT = 25.0
HOST_STOLEN_PERCENT = 10.0
HOST_OTHERS_PERCENT = 10.0
HOST_IDLE_PERCENT = 50.0  # with so much idle time, nobody waits for a CPU or shares a core
ESCAPED_IOPS = 10.0  # less is only small writes: the smallest volume (io1, io2) has 100 IOPS
ESCAPED_MIB_S = 1.0  # likewise: the smallest volume has 25 MiB/s
CLIENT_WAITING_PERCENT = 25.0  # clients on machines of their own; every wake-up waits a little
PERCENTILE_SLACK = 1.05  # factor by which buckets of a histogram may overlap
# Page cleaning and flushing make the halves of a short window differ by 10 % (InnoDB on emulated
# volumes). A warm-up that is too short, or exhausted credits, change them by far more.
HALVES_SHARE = 0.20  # faster: the warm-up was too short; slower: the load was not sustained
_ORDER: tuple[Statistic, ...] = ("p50", "p95", "p99", "p999", "max")


def _make_not_run(name: AuditName, lacks: str) -> Audit:
    return Audit(name=name, passed=None, detail=f"needs {lacks}")


# An audit that cannot run has the same result for every step, so one object serves all.
NO_RESULTS = _make_not_run("clients_ran", "the number of results")
NO_COUNTS = _make_not_run("enough_operations", "the successes of each operation")
NO_CLOCKS = _make_not_run("clock_skew", "the clients' clocks")
NO_HALVES = _make_not_run("steady_state", "the throughput of each half of the window")
NO_PERCENTILES = _make_not_run("percentiles", "two percentiles of an operation")
IN_ORDER = Audit(name="percentiles", passed=True, detail="in ascending order")
NO_SERVER = _make_not_run("server_count", "the server's own count")
NO_ROWS = _make_not_run("rows_met", "the rows that its operations met")
ALL_ROWS = Audit(name="rows_met", passed=True, detail="as many rows as the workload means")
NO_WRITES = _make_not_run("writes_kept", "writes that the server counts or a session reads back")
NO_ESCAPES = _make_not_run("nothing_escaped", "the I/O that bypassed the emulated volume")
NO_HOST = _make_not_run("undisturbed", "the figures of the machine on which it ran")


def audit_step(step: Step, rules: Rules) -> tuple[Audit, ...]:
    """Run every audit that is not switched off; `passed` is None if its inputs are missing."""
    checks = (
        audit_littles_law(step, rules.littles_law_factor),
        audit_clients_ran(step),
        audit_operations(step, rules.statistic),
        audit_clock_skew(step),
        audit_steady_state(step),
        audit_percentiles(step),
        audit_server_count(step),
        audit_rows_met(step, rules.errors_max_share),
        audit_writes(step),
        audit_disturbance(step),
        audit_escapes(step),
    )
    return tuple(check for check in checks if check.name not in rules.audits_off)


def audit_clients_ran(step: Step) -> Audit:
    """Check that every client of the step returned a result; else the load was not as planned.

    With thousands of clients, a few may be missing. Clients that the target refused are no reason
    for
    doubt: they make the step fail.
    """
    if step.clients is None or step.clients_ran is None:
        return NO_RESULTS
    late = f", {step.clients_late} late" if step.clients_late else ""
    clients = words.format_count(step.clients, "client")
    detail = f"{step.clients_ran:,} of {clients} returned results{late}"
    missing = step.clients - step.clients_ran
    passed = missing <= MISSING_SHARE_MOST * step.clients or step.refused is not None
    return Audit(name="clients_ran", passed=passed, detail=detail)


def audit_operations(step: Step, statistic: Statistic) -> Audit:
    """Check that every operation was observed often enough for its statistic."""
    if not step.operation_counts:
        return NO_COUNTS
    least = OPERATIONS_MIN[statistic]
    name, count = min(step.operation_counts.items(), key=lambda item: item[1])
    return Audit(
        name="enough_operations",
        passed=count >= least,
        detail=f"{name} was measured {words.format_count(count, 'time')};"
        f" {words.name_statistic(statistic)}"
        f" needs at least {least:,} operations",
    )


def audit_clock_skew(step: Step) -> Audit:
    """Check that the clients' clocks agree well enough to have a common window."""
    if step.clock_skew_ms is None:
        return NO_CLOCKS
    limit_ms = (step.window_s or CLOCK_SKEW_MS / 10) * 1000 * CLOCK_SKEW_SHARE
    return Audit(
        name="clock_skew",
        passed=step.clock_skew_ms <= limit_ms,
        detail=f"the clients' clocks differ by {words.format_latency(step.clock_skew_ms * 1000)};"
        " at most"
        f" {words.format_latency(limit_ms * 1000)} is allowed",
    )


def audit_steady_state(step: Step) -> Audit:
    """Check by the trend over its seconds that the window's second half is not much faster.

    If it is, the target was still warming up. Waves, such as those of page cleaning, may put more
    throughput into one half without a trend and are accepted. A second half that is much *slower*
    is accepted too: the target deteriorated, and the step fails as `unsteady`.
    """
    if step.halves is None:
        return NO_HALVES
    first, second = (half.throughput_ops_per_second for half in step.halves)
    if first is None or second is None or first == 0:
        return NO_HALVES
    faster = second > first * (1 + HALVES_SHARE)
    detail = (
        f"{words.format_throughput(first)} in the window's first half,"
        f" {words.format_throughput(second)} in its second"
    )
    if faster and step.trend is not None:
        faster = is_significant(step.trend) and step.trend.change_share > 0
        no = "" if faster else "no "
        detail += f", {no}trend over its {step.trend.values} seconds (p = {step.trend.p_value:.2g})"
    return Audit(name="steady_state", passed=not faster, detail=detail)


def audit_percentiles(step: Step) -> Audit:
    """Check that no percentile is below a lower one, or above the maximum."""
    compared = False
    for name, values in step.latency_us.items():
        known = [(statistic, values[statistic]) for statistic in _ORDER if statistic in values]
        for (low_name, low), (high_name, high) in pairwise(known):
            compared = True
            if low > high * PERCENTILE_SLACK:
                detail = (
                    f"{name}: {words.name_statistic(low_name)} {words.format_latency(low)} is above"
                    f" {words.name_statistic(high_name)} {words.format_latency(high)}"
                )
                return Audit(name="percentiles", passed=False, detail=detail)
    return IN_ORDER if compared else NO_PERCENTILES


def audit_server_count(step: Step) -> Audit:
    """Check that the server counted as many statements as the clients sent."""
    sent, served = step.statements_sent, step.statements_served
    if sent is None or served is None:
        return NO_SERVER
    return Audit(
        name="server_count",
        passed=abs(sent - served) <= sent * SERVER_COUNT_SHARE,
        detail=f"{sent:,} statements sent by the clients, {served:,} counted by the server",
    )


def audit_rows_met(step: Step, missing_max_share: float) -> Audit:
    """Check that the operations met the rows that the workload means.

    A read or an update that finds no row is a success to the server, and often a cheap one.

    Args:
        step: The step.
        missing_max_share: The largest share of the rows that may be missing.
    """
    if not step.rows_meant:
        return NO_ROWS
    short = [
        f"{name} did not meet {words.format_count(missing, 'row')} of {step.rows_meant[name]:,}"
        " that the"
        " workload means"
        for name, missing in step.rows_missing.items()
        if missing > step.rows_meant[name] * missing_max_share
    ]
    if not short:
        return ALL_ROWS
    return Audit(name="rows_met", passed=False, detail=f"rows are missing: {'; '.join(short)}")


def audit_writes(step: Step) -> Audit:
    """Check that writes were committed: by the server's count, and by what a second session sees.

    Commits of others only add to the count. Some servers count more than commits of transactions
    (MySQL counts those of statements, too), so that the count alone proves little there.
    """
    parts = []
    passed, first = True, ""
    if step.writes and step.commits is not None:
        passed = step.commits >= step.writes * (1 - SERVER_COUNT_SHARE)
        first = "" if passed else "writes are not committed: "
        parts.append(f"{step.writes:,} writes succeeded, {step.commits:,} commits were counted")
    if step.written_back and step.read_back is not None:
        if passed and not step.read_back:
            first = "writes are not kept (not committed, or a trigger or rule undoes them): "
        passed = passed and step.read_back > 0
        rows = words.format_count(step.written_back, "row")
        parts.append(f"of {rows} written after the load, another session saw {step.read_back}")
    if not parts:
        return NO_WRITES
    return Audit(name="writes_kept", passed=passed, detail=f"{first}{'; '.join(parts)}")


def audit_disturbance(step: Step) -> Audit:
    """Check that other programs did not use much of the step's CPU and disk.

    On one machine, target and clients share CPU and disk with its other processes, and a virtual
    machine with the hypervisor's other guests. An emulated volume has the right latency only while
    the disk under it is faster, and a wait for a CPU that others use is latency that the database
    did not cause. Waits for a CPU that the run itself uses are accepted: they are this machine's
    limit.

    Clients on machines of their own report only their own CPU use, and how long they waited for it.
    """
    idle = step.host_idle_percent or 0.0
    others_most = HOST_OTHERS_PERCENT if idle < HOST_IDLE_PERCENT else 100.0
    parts = [
        (step.host_late_percent, HOST_LATE_PERCENT, "its own disk caused {} of the time in I/O"),
        (step.host_stolen_percent, HOST_STOLEN_PERCENT, "the hypervisor took {} of the CPU"),
        (step.host_others_percent, others_most, "other processes used {} of the CPU"),
        (step.client_waiting_percent, CLIENT_WAITING_PERCENT, "{} of its work waited for a CPU"),
    ]
    known = [(value, most, text) for value, most, text in parts if value is not None]
    if not known:
        return NO_HOST
    failed = [(value, most, text) for value, most, text in known if value > most]
    details = [
        f"{text.format(words.format_percent(value / 100))}; at most"
        f" {words.format_percent(most / 100)} is allowed"
        for value, most, text in failed or known
    ]
    whose = "this machine" if step.client_waiting_percent is None else "a client's machine"
    was = f"{whose} was busy" if failed else whose
    return Audit(name="undisturbed", passed=not failed, detail=f"{was}: {'; '.join(details)}")


def audit_escapes(step: Step) -> Audit:
    """Check that the target's I/O went through its emulated volume, so that its limits applied.

    If there is little I/O, even a large share of it is accepted, such as an idle database's
    messages.
    """
    iops, mib_s, percent = step.escaped_iops, step.escaped_mib_s, step.escaped_percent
    if iops is None or mib_s is None or percent is None:
        return NO_ESCAPES
    little = iops <= ESCAPED_IOPS and mib_s <= ESCAPED_MIB_S
    return Audit(
        name="nothing_escaped",
        passed=little or percent <= 100 * ESCAPED_SHARE,
        detail=f"{words.format_rate(iops)} IOPS and {words.format_rate(mib_s)} MiB/s bypassed the"
        " emulated"
        f" volume, {words.format_percent(percent / 100)} of all I/O",
    )
