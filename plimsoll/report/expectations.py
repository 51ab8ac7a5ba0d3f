"""Checks results against expectations, and against earlier results as baselines."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll import words
from plimsoll.capacity.expectations import judge_capacity, judge_latency
from plimsoll.documents import is_deeper
from plimsoll.errors import UsageError
from plimsoll.files import read_limited
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.request.expectations import (
    Answer,
    BaselineRule,
    CapacityRule,
    Expectation,
    LatencyRule,
    parse_rule,
)
from plimsoll.model.run.results import RunResult
from plimsoll.report.comparing.comparing import list_field_differences, make_question_key
from plimsoll.report.comparing.ratios import Ratio, divide_capacities
from plimsoll.report.folder import MAX_BYTES, RESULT, list_run_folders, read_model

_ASKED = ("workload", "load", "limits", "search")  # the parts of a request that make its question


@dataclass(frozen=True)
class Judged:
    """A verdict, and the run that it belongs to.

    Attributes:
        capacity: The verdict; None if there is none.
        result: The run; None if the verdict is for a table of steps.
        why_not: The reason why there is no verdict.
    """

    capacity: Capacity | None
    result: RunResult | None = None
    why_not: str = ""

    @classmethod
    def of(cls, result: RunResult) -> "Judged":
        """Take the verdict of a run."""
        failure = result.failure
        return cls(result.capacity, result, failure.cause if failure else "it has no verdict")


class JudgedTable(Capacity):
    """A verdict on a table of steps with its checked expectations: `capacity --json`."""

    expect: tuple[Expectation, ...] = ()


Baselines = Mapping[str, Judged]


def read_baseline(path: Path) -> Judged:
    """Read an earlier result: a run's folder, its `result.json`, or output of `capacity --json`.

    Raises:
        UsageError: There is no result, there are several, or the file holds something else.
    """
    if path.is_dir():
        folders = list_run_folders(path)
        if len(folders) != 1:
            several = ", ".join(str(folder) for folder in folders[:5])
            what = f"holds several runs: name one ({several})" if folders else "no run is in it"
            raise UsageError(f"baseline {path}: {what}")
        path = folders[0] / RESULT
    if not path.is_file():
        raise UsageError(f"baseline {path}: there is no such file")
    if _is_capacity(path):
        return Judged(read_model(path, JudgedTable))
    return Judged.of(read_model(path, RunResult))


def _is_capacity(path: Path) -> bool:
    try:
        text = read_limited(path, bytes_max=MAX_BYTES).decode()
        value = {} if is_deeper(text) else json.loads(text)
    except ValueError:  # `read_model` reports what is wrong
        return False
    return isinstance(value, dict) and "verdict" in value


def check_rule(text: str, judged: Judged, baselines: Baselines) -> Expectation:
    """Check a verdict against a rule.

    Args:
        text: The rule.
        judged: The verdict.
        baselines: Earlier results by the names that rules use for them.

    Raises:
        UsageError: The text is not a rule.
    """
    rule = parse_rule(text)
    if judged.capacity is None:
        because = f"no verdict: {judged.why_not}"
        return Expectation(rule=text, answer="no answer", because=because)
    match rule:
        case CapacityRule():
            return judge_capacity(rule, judged.capacity)
        case LatencyRule():
            return judge_latency(rule, judged.capacity)
        case BaselineRule():
            answer, because = _compare_with_baseline(rule, judged, baselines.get(rule.baseline))
            return Expectation(rule=text, answer=answer, because=because)


def check_expectations(
    result: RunResult, rules: Sequence[str] = (), baselines: Baselines | None = None
) -> RunResult:
    """Check a run against the rules of its request, and against further ones.

    A rule keeps its earlier answer if its baseline is not available here.

    Args:
        result: The run.
        rules: Further rules.
        baselines: Earlier results by the names that rules use for them.
    """
    known = {one.rule: one for one in result.expect}
    judged, found = Judged.of(result), baselines or {}
    outcomes = {**known}
    for text in (*result.request.expect, *rules):
        rule = parse_rule(text)
        lacks = isinstance(rule, BaselineRule) and rule.baseline not in found
        if not lacks or text not in known:
            outcomes[text] = check_rule(text, judged, found)
    return result.model_copy(update={"expect": tuple(outcomes.values())})


def _compare_with_baseline(
    rule: BaselineRule, judged: Judged, baseline: Judged | None
) -> tuple[Answer, str]:
    if baseline is None:
        return "no answer", f"{rule.baseline} is not available here"
    if asked := _find_differing_question(judged, baseline):
        return "no answer", f"{rule.baseline} answers another question ({asked})"
    ratio = divide_capacities("this", judged.capacity, rule.baseline, baseline.capacity)
    if ratio is None:
        return "no answer", _explain_no_ratio(rule, judged, baseline)
    return _judge_ratio(rule, ratio)


def _explain_no_ratio(rule: BaselineRule, judged: Judged, baseline: Judged) -> str:
    for name, one in ((rule.baseline, baseline), ("this result", judged)):
        if one.capacity is None or one.capacity.bound is None:
            why = one.capacity.verdict if one.capacity else one.why_not
            return f"{name} has no figure: {why}"
    return "both are only bounds"


def _judge_ratio(rule: BaselineRule, ratio: Ratio) -> tuple[Answer, str]:
    least = 1 - rule.share
    times = f"{words.format_ratio(ratio.value, ratio.bound)} times {rule.baseline}"
    low, high = ratio.low, ratio.high
    if ratio.bound != "=":
        low, high = (ratio.value, math.inf) if ratio.bound == ">=" else (0.0, ratio.value)
    elif low is None or high is None:
        return "no answer", f"{times}; without repetitions of both there is no interval"
    else:
        times += f" (95 % interval {words.format_ratio_interval(low, high)})"
    if low >= least:
        return "met", times
    if high < least:
        return "not met", times
    share = words.format_percent(rule.share)
    return "no answer", f"{times}, which does not decide whether it is lower by {share}"


def _find_differing_question(judged: Judged, baseline: Judged) -> str:
    """Name what differs between the questions of two results; empty if nothing relevant does."""
    one, other = judged.capacity, baseline.capacity
    if one is not None and other is not None and one.axis != other.axis:
        return f"{one.axis} here, {other.axis} there"
    if judged.result is None or baseline.result is None:
        return ""
    if make_question_key(judged.result) == make_question_key(baseline.result):
        return ""
    differing = list_field_differences([judged.result, baseline.result])
    fields = [one.field for one in differing if one.part in _ASKED]
    return ", ".join(fields[:5])
