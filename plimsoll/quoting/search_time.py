"""How long a search takes, in words: its steps, and the soak after them. Pure."""

from plimsoll import words
from plimsoll.capacity.soak import windows
from plimsoll.model.request import Request
from plimsoll.quoting.rehearsal import rehearse
from plimsoll.quoting.toggle_time import toggle_steps


def search_words(request: Request) -> str:
    """Say how long the steps of a search take by themselves, wherever it runs."""
    rehearsed, load = rehearse(request.search, request.limits), request.load
    window_s = request.limits.soak_s / max(1, windows(request.limits))
    soak_s = rehearsed.soak_steps * (load.warmup_s + window_s)
    step_s = load.warmup_s + load.duration_s
    paired_s = request.steps_beside * step_s
    pairs = words.plural(request.background_pairs, "pair")
    paired = f", then {pairs} with and without its background: {words.duration(round(paired_s))}"
    toggled = toggle_steps(request)
    toggled_s = toggled * (request.prepare.warm_s + step_s)
    seconds = (rehearsed.steps - rehearsed.soak_steps) * step_s + soak_s + toggled_s
    steps = words.plural(round(rehearsed.steps) + toggled, "step")
    soaked = f", {words.duration(round(soak_s))} of it a soak" if request.limits.soak_s else ""
    if toggled:
        soaked += f", {words.duration(round(toggled_s))} of it a toggle"
        soaked += ", besides its restarts" if request.target.provisioned else ""
    return (
        f"about {steps} where nothing is noisy, {request.search.probes_max:,} at most:"
        f" {words.duration(round(seconds))} of load{soaked}{paired if paired_s else ''}"
    )


def soak_assumption(request: Request) -> str:
    """Say what a soak adds to a search; empty without one."""
    count = windows(request.limits)
    if not count:
        return ""
    return f", {count} of them for a soak of {words.duration(request.limits.soak_s)}"


def pairs_assumption(request: Request) -> str:
    """Say what the pairs with and without a background add to a search; empty without them."""
    if not request.steps_beside:
        return ""
    return f", {request.steps_beside} of them pairs with and without its background"
