"""What set the limit, in words: its name, how near it was, and what would have to change."""

from plimsoll import words
from plimsoll.model.results import LimitingResource


def limit_cell(limiting: LimitingResource | None) -> str:
    """Name what set the limit, for a cell; what was nearest to its limit says so."""
    if limiting is None:
        return words.NOTHING
    name = words.RESOURCES[limiting.resource]
    return name if _met(limiting) else f"nearest: {name} {words.percent(limiting.share)}"


def limit_facts(limiting: LimitingResource) -> list[tuple[str, str]]:
    """Name what set the limit, what comes second, and what would have to change."""
    step = "" if limiting.step is None else f" (step {limiting.step})"
    name, near = words.RESOURCES[limiting.resource], words.percent(limiting.share)
    met = ("Limited by", f"{name}{step}")
    facts = [met if _met(limiting) else ("Nearest to its limit", f"{name}, {near}{step}")]
    if limiting.to_change is not None:
        facts.append(("What would have to change", limiting.to_change))
    if limiting.second is not None:
        second = limiting.second
        share = "" if second.share is None else f", {words.percent(second.share)}"
        text = f"{words.RESOURCES[second.resource]}{share}; to change: {second.to_change}"
        facts.append(("Second", text))
    return facts


def limit_sentence(limiting: LimitingResource) -> str:
    """Say what set the limit, as a part of a sentence."""
    name = words.RESOURCES[limiting.resource]
    if limiting.resource == "unknown":
        return "what set the limit could not be told from the target's figures"
    if _met(limiting):
        return f"{name} set the limit"
    return f"nothing that was measured was at its limit, nearest to it: {name}" + (
        "" if limiting.share is None else f" ({words.percent(limiting.share)})"
    )


def _met(limiting: LimitingResource) -> bool:
    """Whether it set the limit; older results name nothing else."""
    return limiting.reached is not False or limiting.resource == "unknown"
