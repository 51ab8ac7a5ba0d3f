"""The words of a judgement for its reader: the verdict's sentence, its notes, what is left out."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.capacity.confirm.larger_fleet import drop_outgrown_steps
from plimsoll.capacity.passing.assess import Assessed, is_known_light, is_relative
from plimsoll.capacity.passing.verdict import Conclusion
from plimsoll.capacity.steps.audits import audit_disturbance
from plimsoll.capacity.steps.loads import Repetition
from plimsoll.capacity.steps.step_figures import name_step
from plimsoll.model.judging.capacity import Audit, Axis, Rules, Verdict
from plimsoll.model.judging.steps import CLOSING, Step

# If latency falls below this share of the lightest step's, that step was no fair baseline.
IMPROVED_SHARE = 0.8


def describe_verdict(conclusion: Conclusion, axis: Axis) -> str:
    """Return the verdict in one sentence."""
    figure = words.format_throughput(conclusion.figure)
    at = f"at {words.format_load(conclusion.at.point.load, axis)}" if conclusion.at else ""
    high = conclusion.failing
    below = "" if conclusion.figure is None else f"sustains less than {figure}: "
    sentences: dict[Verdict, str] = {
        "KNEE": f"sustains {figure} {at}; at {words.format_number(high)} it does not",
        "PLATEAU": f"sustains {figure} {at}",
        "LOWER_BOUND": f"sustains at least {figure} {at}, and possibly more",
        "BELOW_FIRST_STEP": f"{below}the lightest step fails",
        "CLIENT_BOUND": f"the clients were the limit, not the database; {conclusion.remedy}",
        "NOISY": "no figure can be given",
        "INCONSISTENT": "no figure: the step that would decide is inconsistent",
        "DISTURBED": "no figure: other programs disturbed every attempt at the step that would"
        " decide",
        "NOT_SUSTAINED": f"sustains less than {figure} {at}, since that load did not last",
        "DRIFTING": "no figure: the target changed while it was measured",
    }
    return f"{sentences[conclusion.verdict]}: {conclusion.because}"


def describe_callers(conclusion: Conclusion) -> str | None:
    """Describe the callers that the figure holds for: those that wait for replies, or not."""
    if conclusion.at is None or conclusion.figure is None:
        return None
    if conclusion.at.point.figures.rate is not None:
        return "open loop: operations arrive at this rate, however long the replies take"
    steps = [repetition.step for repetition in conclusion.at.point.counted]
    connections = steps[0].connections if steps else None
    many = (
        "concurrent callers"
        if connections is None
        else words.format_count(connections, "concurrent caller")
    )
    return f"closed loop: {many}, each waiting for its reply before it sends again"


def list_notes(judged: Sequence[Assessed], conclusion: Conclusion, axis: Axis) -> list[str]:
    """Return remarks for the reader besides the verdict."""
    notes = []
    failed = conclusion.failing
    for assessed in judged:
        point = assessed.point
        name = f"{point.repetitions[0].figures.where} ({words.format_load(point.load, axis)})"
        if not point.consistent or assessed.doubtful:
            audit, detail = list_doubts(assessed)[0]
            notes.append(f"{name} is left out: {audit}: {detail}")
        elif len(point.counted) < len(point.repetitions):
            left_out = len(point.repetitions) - len(point.counted)
            notes.append(f"{name}: {left_out} of {len(point.repetitions)} repetitions are left out")
        if failed is not None and point.load > failed and assessed.passed:
            notes.append(
                f"{name} passed although {words.format_load(failed, axis)} failed; loads above a"
                " failed"
                " one do not count"
            )
        if point.client_bound and conclusion.verdict != "CLIENT_BOUND":
            notes.append(f"{name} was limited by its clients: {point.client_bound}")
    return [*notes, *_list_improved(judged)]


def list_doubts(assessed: Assessed) -> list[tuple[str, str]]:
    """Return name and detail of the audits that keep a load from passing or from counting."""
    point = assessed.point
    if point.consistent and not assessed.doubtful:
        return []
    failed = [(str(a.name), a.detail) for a in merge_audits(point.repetitions) if a.passed is False]
    return failed or [("recovered", "the target had not recovered from the overload before it")]


def merge_audits(repetitions: Sequence[Repetition]) -> list[Audit]:
    """Return each audit of a load once: its first failure, else the first that could run."""
    by_name: dict[str, Audit] = {}
    rank = {False: 0, True: 1, None: 2}
    for repetition in repetitions:
        for audit in repetition.audits:
            kept = by_name.get(audit.name)
            if kept is None or rank[audit.passed] < rank[kept.passed]:
                if len(repetitions) > 1 and audit.passed is not None:
                    detail = f"{repetition.figures.where}: {audit.detail}"
                    audit = audit.model_copy(update={"detail": detail})  # noqa: PLW2901
                by_name[audit.name] = audit
    return list(by_name.values())


def _list_improved(judged: Sequence[Assessed]) -> list[str]:
    """Name operations faster under load than in the lightest step, which then was not warm."""
    notes = []
    consistent = [assessed.point.figures for assessed in judged if assessed.point.consistent]
    let_in = [figures for figures in consistent if figures.refused is None]
    for name, first in judged[0].point.figures.latency_us.items():
        others = (figures.latency_us.get(name) for figures in let_in)
        least = min((us for us in others if us is not None), default=first)
        if least < IMPROVED_SHARE * first:
            notes.append(
                f"{name} is faster under load ({words.format_latency(least)}) than at the lightest"
                " step"
                f" ({words.format_latency(first)}), so its limit may be too high: the target may"
                " not have"
                " been warm"
            )
    return notes


def warn_of_heavy_baseline(
    judged: Sequence[Assessed], conclusion: Conclusion, rules: Rules, axis: Axis
) -> list[str]:
    """Return a warning if the answer depends on a lightest load that is not known to be light."""
    rests_on_it = conclusion.figure is not None or conclusion.bracket is not None
    if not rests_on_it or not is_relative(judged[0], rules):
        return []
    if is_known_light(judged, rules, axis):
        return []
    lightest = words.format_load(judged[0].point.load, axis)
    note = (
        f"limits are multiples of the latency at {lightest}, and nothing shows that this load is"
        " light: another lightest load may give another answer. Start with a lighter load, or give"
        " limits in microseconds"
    )
    return [note]


def note_unwatched(steps: Sequence[Step], rules: Rules) -> list[str]:
    """Return a note if the audit that sees other programs on the machine was switched off."""
    found = [audit_disturbance(step) for step in steps if "undisturbed" in rules.audits_off]
    busy = [audit.detail for audit in found if audit.passed is False]
    if all(audit.passed is None for audit in found):
        return []
    many = (
        f"{len(busy)} of {words.format_count(len(found), 'step')} would not count, such as:"
        f" {busy[0]}"
        if busy
        else "none of the steps would be disputed by it"
    )
    return [f"measured without the audit undisturbed: {many}"]


def note_void_steps(steps: Sequence[Step]) -> list[str]:
    """List the void steps with their reasons."""
    return [
        f"{name_step(step, number)} does not count: {step.void}"
        for number, step in enumerate(steps, 1)
        if step.void is not None
    ]


def note_outgrown_steps(steps: Sequence[Step]) -> list[str]:
    """Name the steps of fleets that turned out to be too small; empty if there are none."""
    kept = {id(step) for step in drop_outgrown_steps(steps)}
    outgrown = [s for s in steps if s.purpose not in CLOSING and id(s) not in kept]
    if not outgrown:
        return []
    count = words.format_count(len(outgrown), "step")
    clients = words.format_count(max(step.clients or 1 for step in outgrown), "client")
    return [f"{count} by {clients} left out: more were found to be needed"]
