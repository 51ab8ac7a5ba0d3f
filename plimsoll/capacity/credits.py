"""Burst credits: the throughput that lasts, and the throughput that only credits allow.

A volume has burst credits, an instance has them for its I/O, and a burstable CPU earns them. They
are spent while more is used than is earned. A database's log lends likewise while it fills
(`steps/debt.py`). A load that passes that way is no capacity but
`burst`, with the time that a full bucket would last at that load, which is computed, not measured.
The sustained throughput is judged from steps that spend no credits net, including those with an
empty bucket, and from loads that fail even with credits.
"""

from collections.abc import Sequence
from statistics import median

from plimsoll import words
from plimsoll.capacity.confirm.closing import split_closing_steps
from plimsoll.capacity.judge import judge
from plimsoll.capacity.steps.debt import is_only_filling, is_unproven
from plimsoll.capacity.steps.loads import choose_axis, select_undisputed
from plimsoll.capacity.summary import note_void_steps
from plimsoll.model.judging.capacity import Axis, Burst, Capacity, JudgedStep, Rules
from plimsoll.model.judging.steps import CreditBucket, CreditUse, Step

EMPTY_PERCENT = 1.0  # share of a full bucket below which it counts as empty
# Share of the earned credits by which the use may exceed them without counting as spending
SPENDING_SHARE = 0.03
CREDITS = "credits"  # reason code: a load that passed only on credits is not sustained
BUCKETS: dict[CreditBucket, str] = {
    "volume": "the volume's burst credits",
    "instance_io": "the instance's I/O credits",
    "instance_throughput": "the instance's throughput credits",
    "cpu": "the instance's CPU credits",
    "log": "the room in the database's log",
}


def _describe_spending(name: str) -> str:
    back = "it comes" if name == BUCKETS["log"] else "they come"
    return f"spent {name} faster than {back} back"


def judge_sustained(steps: Sequence[Step], rules: Rules, axis: Axis | None = None) -> Capacity:
    """Judge what lasts; the capacity's `burst` holds what credits allow in addition.

    Args:
        steps: finished steps; a step without data on credits counts as spending none.
        rules: rules as in `judge`.
        axis: axis of the load; None to determine it from the steps.

    Raises:
        UsageError: The steps cannot be judged; names the row and the column.
    """
    valid, closing = split_closing_steps(steps)
    notes = _list_credit_notes(valid)
    if not any(map(spends_credits, valid)):
        return _add_notes(judge(steps, rules, axis), notes)
    axis = axis or choose_axis(valid)
    rich = [step for step in valid if not is_empty(step)]
    # One baseline for both judgements: with credits, if there is such a step
    baseline = rich or valid
    closing = [step for step in closing if step.void is None]
    bursting = None
    if any(map(spends_credits, rich)):
        on_credits = [step for step in closing if not is_empty(step)]
        bursting = _judge_confirmed_or_by_medians([*rich, *on_credits], rules, axis, baseline)
    failed = {id(s) for j in bursting.steps if not j.passed for s in j.steps} if bursting else set()
    lent = any(map(is_only_filling, valid))
    proven = [s for s in valid if not (spends_credits(s) or (lent and is_unproven(s)))]
    lasting = [s for s in valid if s in proven or id(s) in failed]
    if lent and bursting and bursting.bound not in {"=", ">="}:  # nothing was lent an answer
        return _add_notes(judge(steps, rules, axis), notes)
    notes += note_void_steps(steps)
    only_lent = lent and all(id(step) in failed for step in proven)
    burst = _judge_burst(bursting, rules) if bursting else None
    if bursting and bursting.max_sustainable_throughput_ops_per_second is None:
        notes.append(f"{_describe_while_it_lasts(valid)}: {bursting.verdict}: {bursting.summary}")
    if only_lent or all(map(spends_credits, lasting)):
        return _conclude_nothing_lasts(bursting or judge(valid, rules, axis), burst, rules, notes)
    unspent = [step for step in closing if not spends_credits(step)]
    sustained = _judge_confirmed_or_by_medians([*lasting, *unspent], rules, axis, baseline)
    if sustained.rules.confirmation != rules.confirmation:
        notes.append(
            "the sustained throughput was not repeated often enough to be confirmed; its figure is"
            " a mean"
        )
    spent = _list_credit_loads(bursting) if bursting else []
    beyond = min((j.load for j in spent if j.load > (sustained.at or 0.0)), default=None)
    failed_at = sustained.bracket[1] if sustained.bracket else None
    ends = sustained.verdict in {"LOWER_BOUND", "KNEE"}
    if ends and beyond is not None and (failed_at is None or beyond < failed_at):
        sustained = _bound_by_credits(sustained, beyond, spent)
    return sustained.model_copy(
        update={
            "burst": burst,
            "rules": rules,
            "steps": tuple(sorted((*sustained.steps, *spent), key=lambda j: j.load)),
            "notes": (*notes, *sustained.notes),
        }
    )


def _add_notes(capacity: Capacity, notes: Sequence[str]) -> Capacity:
    return capacity.model_copy(update={"notes": (*notes, *capacity.notes)}) if notes else capacity


def is_burst(judged: JudgedStep) -> bool:
    """Return whether a load passed only on credits."""
    return judged.reasons == (CREDITS,)


def list_credit_uses(step: Step) -> tuple[CreditUse, ...]:
    """Return what a step used of each kind of credits, of its log among them."""
    uses = step.credits or ()
    debt = step.debt
    if debt is None or not is_only_filling(step):
        return uses
    log = CreditUse(
        bucket="log",
        used_per_s=debt.written_bytes / debt.interval_s,
        earned_per_s=max(0, debt.written_bytes - debt.lent_bytes) / debt.interval_s,
        full=debt.limit_bytes,
    )
    return (*uses, log)


def spends_credits(step: Step) -> bool:
    """Return whether a step used more of a limited kind of credits than it earned."""
    return any(_is_net_use(use) and not use.unlimited for use in list_credit_uses(step))


def is_empty(step: Step) -> bool:
    """Return whether a bucket that matters was empty during a step."""
    return any(_is_bucket_empty(use) and not use.unlimited for use in list_credit_uses(step))


def _is_net_use(use: CreditUse) -> bool:
    return use.used_per_s > use.earned_per_s * (1 + SPENDING_SHARE)


def _is_bucket_empty(use: CreditUse) -> bool:
    return use.balance_percent is not None and use.balance_percent < EMPTY_PERCENT


def _judge_confirmed_or_by_medians(
    steps: Sequence[Step], rules: Rules, axis: Axis, baseline: Sequence[Step]
) -> Capacity:
    """Judge by medians if the search confirmed the load of the other judgement instead."""
    capacity = judge(steps, rules, axis, baseline=baseline)
    if capacity.causes != ("unconfirmed",):
        return capacity
    once = rules.model_copy(update={"confirmation": None})
    return judge(steps, once, axis, baseline=baseline)


def _bound_by_credits(sustained: Capacity, beyond: float, spent: Sequence[JudgedStep]) -> Capacity:
    """Name the lightest load that passed only on credits as the one that is not sustained."""
    why = _explain_spending([step for judged in spent for step in judged.steps])
    figure = words.format_throughput(sustained.max_sustainable_throughput_ops_per_second)
    at = words.format_load(sustained.at or 0.0, sustained.axis)
    return sustained.model_copy(
        update={
            "verdict": "LOWER_BOUND",
            "bound": ">=",
            "bracket": (sustained.at, beyond),
            "edge": None,
            "cause": CREDITS,
            "causes": (CREDITS,),
            "summary": f"sustains at least {figure} at {at}: heavier loads {why}",
        }
    )


def _conclude_nothing_lasts(
    bursting: Capacity, burst: Burst | None, rules: Rules, notes: Sequence[str]
) -> Capacity:
    meanwhile = f"; {burst.summary}" if burst else ""
    why = _explain_spending([step for judged in bursting.steps for step in judged.steps])
    failed = [judged for judged in bursting.steps if not judged.passed]
    return bursting.withdraw_figure(
        verdict="BURST",
        cause=CREDITS,
        causes=(CREDITS,),
        summary=f"the sustained throughput was not measured: every load {why}{meanwhile}",
        burst=burst,
        rules=rules,
        steps=tuple(sorted((*_list_credit_loads(bursting), *failed), key=lambda j: j.load)),
        notes=(*notes, *bursting.notes),
    )


def _explain_spending(steps: Sequence[Step]) -> str:
    if _is_lent_by_log_alone(steps):
        return "only filled the log, which lent it"
    return "spent credits faster than they come back"


def _describe_while_it_lasts(steps: Sequence[Step]) -> str:
    return "while the log fills" if _is_lent_by_log_alone(steps) else "while credits last"


def _is_lent_by_log_alone(steps: Sequence[Step]) -> bool:
    spent = {
        use.bucket
        for step in steps
        for use in list_credit_uses(step)
        if _is_net_use(use) and not use.unlimited
    }
    return spent == {"log"}


def _list_credit_loads(bursting: Capacity) -> list[JudgedStep]:
    """List the loads that passed only on credits, as loads that are not sustained."""
    spent = []
    for judged in bursting.steps:
        steps = tuple(step for step in judged.steps if spends_credits(step))
        if steps and judged.passed:
            uses = {
                use.bucket
                for step in steps
                for use in list_credit_uses(step)
                if _is_net_use(use) and not use.unlimited
            }
            text = "; ".join(_describe_spending(BUCKETS[name]) for name in BUCKETS if name in uses)
            update = {
                "passed": False,
                "reasons": (CREDITS,),
                "explanations": (text,),
                "repetitions": len(steps),
                "repetitions_passed": 0,
                "steps": steps,
            }
            spent.append(judged.model_copy(update=update))
    return spent


def _judge_burst(bursting: Capacity, rules: Rules) -> Burst | None:
    """Return what credits allow, and for how long; None if the answer spends none."""
    at = next((judged for judged in bursting.steps if judged.load == bursting.at), None)
    figure = bursting.max_sustainable_throughput_ops_per_second
    counted = [repetition.step for repetition in select_undisputed(at.steps, rules)] if at else []
    spending = [step for step in counted if spends_credits(step)]
    if figure is None or not spending or bursting.at is None:
        return None
    lasting = {
        bucket: s
        for bucket in BUCKETS
        if (s := _compute_bucket_lasts_s(spending, bucket)) is not None
    }
    bucket = min(lasting, key=lambda name: lasting[name])
    load = words.format_load(bursting.at, bursting.axis)
    bound = bursting.bound or "="
    of_bucket = f"from a full bucket ({BUCKETS[bucket]}; computed, not measured)"
    if bucket == "log":
        of_bucket = "from an empty log: the log lent it (computed, not measured)"
    return Burst(
        verdict=bursting.verdict,
        max_throughput_ops_per_second=figure,
        bound=bound,
        at=bursting.at,
        bracket=bursting.bracket,
        bucket=bucket,
        lasts_s=lasting[bucket],
        summary=f"{_describe_while_it_lasts(spending)},"
        f" {words.prepend_bound(words.format_throughput(figure), bound)} at {load}"
        f" ({bursting.verdict}),"
        f" for {words.format_duration(lasting[bucket])} {of_bucket}",
    )


def _compute_bucket_lasts_s(steps: Sequence[Step], bucket: CreditBucket) -> float | None:
    """Return how long a full bucket lasts at the load of some steps; None if it never empties."""
    nets = [
        use.used_per_s - use.earned_per_s
        for step in steps
        for use in list_credit_uses(step)
        if use.bucket == bucket and not use.unlimited
    ]
    full = [u.full for step in steps for u in list_credit_uses(step) if u.bucket == bucket]
    return max(full) / median(nets) if nets and median(nets) > 0 else None


def _list_credit_notes(valid: Sequence[Step]) -> list[str]:
    """Name the steps that spent credits, and those that found an empty bucket."""
    notes = []
    for bucket, name in BUCKETS.items():
        every = [(s, u) for s in valid for u in list_credit_uses(s) if u.bucket == bucket]
        of_bucket = [(s, use) for s, use in every if not use.unlimited]
        charged = [s for s, use in every if use.unlimited and _is_net_use(use)]
        spent = [s for s, use in of_bucket if _is_net_use(use) and not _is_bucket_empty(use)]
        out = [s for s, use in of_bucket if _is_net_use(use) and _is_bucket_empty(use)]
        empty = [s for s, use in of_bucket if not _is_net_use(use) and _is_bucket_empty(use)]
        for steps, how in (
            (spent, _describe_spending(name)),
            (out, f"spent what was left of {name}"),
            (empty, f"{name} were used up"),
            (charged, f"{_describe_spending(name)}; further use is charged"),
        ):
            if steps:
                notes.append(f"{_name_steps(steps)}: {how}")
    return notes


def _name_steps(steps: Sequence[Step]) -> str:
    known = [str(step.index) for step in steps if step.index is not None]
    if len(known) == len(steps):
        return f"{'step' if len(known) == 1 else 'steps'} {', '.join(known)}"
    return words.format_count(len(steps), "step")
