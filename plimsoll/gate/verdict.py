"""The gate's verdict: which counts of which operations changed, and what that means."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from plimsoll import words
from plimsoll.capacity.statistics.counts import (
    compute_detectable_difference,
    compute_p_value,
    select_changed,
)
from plimsoll.errors import UsageError
from plimsoll.model.gate import MIX, TURNS_MIN, WEAK, Change, Count, GateResult, State, Verdict
from plimsoll.report.summaries import Case, CaseOutcome, Summary

# Chance that a comparison of two equal states, over all its counts, finds a difference
FALSE_ALARMS_MAX = 0.005
Key = tuple[str, Count]

COUNT_WORDS: dict[Count, str] = {
    "log_bytes": "bytes of log",
    "log_records": "log records",
    "log_page_images": "full-page images in the log",
    "log_flushes": "log flushes",
    "pages_requested": "pages requested",
    "pages_read": "pages read from storage",
    "pages_written": "pages written",
    "rows_examined": "rows examined",
    "rows_sent": "rows sent",
    "rows_met": "rows met",
    "rows_changed": "rows changed",
    "temporary_tables": "temporary tables",
    "temporary_files": "temporary files",
    "sorts": "sorts",
    "statements": "statements",
    "commits": "commits",
    "bytes_sent": "bytes sent to the client",
    "bytes_received": "bytes received from the client",
    "locks_waited": "waits for locks",
    "errors": "errors",
    "client_cpu_us": "client CPU (µs)",
    "server_cpu_us": "server CPU (µs)",
}


def compare_states(before: State, after: State) -> GateResult:
    """Compare two measured states, count by count.

    Raises:
        UsageError: A state has fewer than `TURNS_MIN` turns, or the other one has more.
    """
    if len(before.turns) != len(after.turns):
        raise UsageError(f"pairs: {len(before.turns)} turns before, {len(after.turns)} after")
    if min(len(before.turns), len(after.turns)) < TURNS_MIN:
        raise UsageError(f"a comparison needs at least {TURNS_MIN} turns of each state")
    old, new = _collect(before), _collect(after)
    operations = [name for name in before.turns[0].blocks if name in after.turns[0].blocks]
    # The mix of other operations is another mix.
    only_before = tuple(_list_missing(before, after))
    only_after = tuple(_list_missing(after, before))
    if only_before or only_after:
        operations = [name for name in operations if name != MIX]
    keys = [key for key in old if key[0] in operations]
    block = before.setting.operations
    told = [key for key in keys if _is_told(old[key]) and _is_told(new.get(key, ()))]
    p_values = {
        key: compute_p_value(_drop_missing(old[key]), _drop_missing(new[key]), block)
        for key in told
        if key[1] not in WEAK
    }
    changed = select_changed(p_values, FALSE_ALARMS_MAX)
    changes = []
    for key in keys:
        means = [_mean(side.get(key, ())) for side in (old, new)]
        one = Change(
            operation=key[0],
            count=key[1],
            before=means[0],
            after=means[1],
            outcome="not tested" if key in told else "not told",
        )
        if key in p_values:
            more = (means[1] or 0.0) > (means[0] or 0.0)
            least = compute_detectable_difference(
                _drop_missing(old[key]),
                _drop_missing(new[key]),
                block,
                most=FALSE_ALARMS_MAX / len(p_values),
            )
            found = {
                "p_value": p_values[key],
                "detectable_share": least / means[0] if means[0] else None,
                "outcome": ("more" if more else "less") if key in changed else "unchanged",
            }
            one = one.model_copy(update=found)
        changes.append(one)
    return GateResult(
        before=before,
        after=after,
        false_alarms_max=FALSE_ALARMS_MAX,
        tested=len(p_values),
        changes=tuple(changes),
        only_before=only_before,
        only_after=only_after,
        verdict=_decide(changes, len(p_values)),
        sentences=tuple(_describe_operations(operations, changes)),
        notes=tuple(_note(before, after, only_before, only_after)),
    )


def _collect(state: State) -> dict[Key, list[float | None]]:
    found: dict[Key, list[float | None]] = {}
    for turn in state.turns:
        for operation, counts in turn.blocks.items():
            for count, value in counts.items():
                found.setdefault((operation, count), []).append(value)
    return found


def _list_missing(one: State, other: State) -> list[str]:
    return [name for name in one.turns[0].blocks if name not in (*other.turns[0].blocks, MIX)]


def _is_told(values: Sequence[float | None]) -> bool:
    return bool(values) and None not in values


def _drop_missing(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[float | None]) -> float | None:
    return fmean(_drop_missing(values)) if _is_told(values) else None


def _decide(changes: Sequence[Change], tested: int) -> Verdict:
    if not tested:
        return "no answer"
    return "more work" if any(one.outcome == "more" for one in changes) else "no more work"


def _note(
    before: State, after: State, only_before: Sequence[str], only_after: Sequence[str]
) -> list[str]:
    notes = []
    if before.setting.server != after.setting.server:
        notes.append(f"before: {before.setting.server}; after: {after.setting.server}")
    for names, where in ((only_before, "before"), (only_after, "after")):
        if names:
            notes.append(
                f"{words.join_names(names)}: only {where}, so neither compared nor is the mix"
            )
    if not all(turn.settled for state in (before, after) for turn in state.turns):
        notes.append("the purge had not ended, or could not be seen, at some blocks")
    return notes


# What a change means, in the order in which it is looked for.


def _describe_operations(operations: Sequence[str], changes: Sequence[Change]) -> list[str]:
    sentences = []
    for operation in operations:
        of_it = [one for one in changes if one.operation == operation]
        differing = {one.count: one for one in of_it if one.outcome in {"more", "less"}}
        if differing:
            figures = "; ".join(map(describe_count_change, differing.values()))
            meaning = explain(differing)
            sentences.append(f"{operation}: {figures}{f' — {meaning}' if meaning else ''}")
    return sentences


def describe_count_change(change: Change) -> str:
    """Describe a change with its figures: `2.4 times as many bytes of log (120, was 49)`."""
    before, after = change.before or 0.0, change.after or 0.0
    named = COUNT_WORDS[change.count]
    now, was = words.format_three_figures(after), words.format_three_figures(before)
    figures = f"({now}, was {was} per operation)"
    if not before:
        return f"{named} where there were none {figures}"
    share = after / before - 1
    if share >= 1:
        return f"{words.format_ratio(after / before)} times as many {named} {figures}"
    return (
        f"{words.format_percent(abs(share))} {'more' if share > 0 else 'fewer'} {named} {figures}"
    )


# The first row of which one count grew, and none of those that would say otherwise.
_MEANINGS: tuple[tuple[frozenset[Count], frozenset[Count], str], ...] = (
    (frozenset({"errors"}), frozenset(), "operations fail that did not fail before"),
    (
        frozenset({"commits", "log_flushes"}),  # MariaDB's commits have those of statements in them
        frozenset({"rows_changed", "rows_met"}),
        "more transactions for the same work: autocommit in place of one transaction",
    ),
    (
        frozenset({"statements"}),
        frozenset(),
        "more statements for each operation: queries in a loop (N+1)",
    ),
    (
        frozenset({"rows_met", "rows_sent"}),
        frozenset(),
        "more rows are returned: a LIMIT or a condition is missing",
    ),
    (
        frozenset({"log_records"}),
        frozenset(),
        "more changes of pages for each row: an index more, or rows that no longer fit their page",
    ),
    (frozenset({"log_bytes"}), frozenset(), "more bytes of log: an index more, or wider rows"),
    (
        frozenset({"rows_examined"}),
        frozenset({"rows_changed"}),
        "more rows are examined for the same result: an index is missing, or is not used",
    ),
    (
        frozenset({"temporary_tables", "temporary_files", "sorts"}),
        frozenset(),
        "rows are sorted or stored on the way: no index delivers their order any longer",
    ),
    (frozenset({"bytes_sent"}), frozenset(), "wider rows are sent"),
    (
        frozenset({"pages_requested"}),
        frozenset(),
        "more pages for the same rows: wider rows, or a deeper index",
    ),
)


def explain(changes: Mapping[Count, Change]) -> str:
    """Say what the changes of one operation may come from; empty if nothing is known to."""
    more = {count for count, change in changes.items() if change.outcome == "more"}
    for any_of, none_of, meaning in _MEANINGS:
        if more & any_of and not more & none_of:
            return meaning
    return "" if more else "less work than before"


# What has to be equal before a stored state is compared.


def require_comparable(baseline: State, now: Mapping[str, Any]) -> None:
    """Refuse a stored state that was measured otherwise.

    Args:
        baseline: The stored state.
        now: Fields of the other measurement's `Setting`, as JSON: all, or those that are known.

    Raises:
        UsageError: Names each field that differs.
    """
    stored = baseline.setting.model_dump(mode="json")
    differing = []
    for name, current in now.items():
        value = stored[name]
        if name == "server_settings":
            settings = {*value, *current}
            differing += [
                f"{setting} ({value.get(setting)}, now {current.get(setting)})"
                for setting in sorted(settings)
                if value.get(setting) != current.get(setting)
            ]
        elif name == "layout":
            if value != current:
                differing.append("the tables' sizes as they were loaded")
        elif name != "workload" and value != current:
            differing.append(f"{name} ({value}, now {current})")
    if differing:
        raise UsageError(
            f"--baseline: was measured with another {', '.join(differing)}: measure it again"
        )


# The summary for pipelines.


def summarize(result: GateResult, name: str) -> Summary:
    """Summarize a result: a case for each operation."""
    operations = list(dict.fromkeys(change.operation for change in result.changes))
    cases = [_judge(result, operation) for operation in operations if operation != MIX]
    if MIX in operations:
        cases.append(_judge(result, MIX))
    if result.verdict == "no answer":
        cases.append(Case("the gate", "no answer", "both states have no operation in common"))
    rate = words.format_percent(result.false_alarms_max)
    return Summary(
        name=name,
        cases=tuple(cases),
        facts=(
            ("server", result.after.setting.server),
            ("verdict", result.verdict),
            ("tested", f"{result.tested} counts together; false alarms in at most {rate}"),
            *(("note", note) for note in result.notes),
        ),
    )


def _judge(result: GateResult, operation: str) -> Case:
    of_it = [one for one in result.changes if one.operation == operation]
    more = any(one.outcome == "more" for one in of_it)
    told: CaseOutcome = "not met" if more else "met"
    prefix = f"{operation}: "
    found = (line for line in result.sentences if line.startswith(prefix))
    because = next(found, f"{prefix}no count changed").removeprefix(prefix)
    return Case(f"{operation}: no more work", told, because)
