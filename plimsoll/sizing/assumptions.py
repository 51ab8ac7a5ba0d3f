"""What a prediction takes for granted, in sentences for its reader. Pure."""

from collections.abc import Iterator

from plimsoll import words
from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.sizing.caps import OTHER_FAMILY, OTHER_MACHINE
from plimsoll.sizing.elsewhere import IO_CPU_S, OTHER_CONSTANTS
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.profile import Profile


def assumptions(run: Measured, *, here: bool = False) -> Iterator[str]:
    """List what predictions from a run take for granted.

    Args:
        run: From which is predicted.
        here: Whether what this machine would measure is predicted, not AWS.
    """
    profile = run.known.profile
    yield (
        "the same workload, rows and engine parameters, asked by callers who wait for their answers"
    )
    if run.result.request.background:
        yield "what ran beside it went on in the same way: its I/Os and processor time are in these"
    if profile.ios is not None:
        yield _of_demand(profile)
    else:
        yield "the I/Os of an operation are not known: no volume is held to be the limit"
    if here:
        yield "this machine's processors stand in for those of every class"
    else:
        yield from _of_processors(run)
    yield from _of_memory(run)
    yield from _of_storage(run)
    if profile.tails_under_way:
        yield (
            "latencies grow with the mean time of an operation as they did in the run; as this"
            " workload writes, they may also be as long as they were under as many operations:"
            " likeliest the shorter of the two, at worst the latter"
        )
    if run.known.held is not None:
        resource, held = run.known.held
        yield (
            f"{words.RESOURCES[resource]} set the run's limit at {words.throughput(held)}: nobody"
            " knows from it how far another volume or class would move that"
        )
    factor = run.known.factor
    yield (
        f"what was measured of the run is {words.ratio(factor.mid)} times what this model says of"
        " it, and so is everything else held to be"
    )


def _of_demand(profile: Profile) -> str:
    assert profile.ios is not None  # noqa: S101 - asked by its caller
    each = profile.ios.at(profile.most_load)
    return (
        f"an operation takes {words.three_figures(each.mid)} I/Os"
        f" ({words.three_figures(each.low)} to {words.three_figures(each.high)}) under the heaviest"
        " load that was measured, and as many under heavier ones; at best they go on falling"
    )


def _of_processors(run: Measured) -> Iterator[str]:
    if run.result.local:
        yield (
            "a vCPU of AWS does as much as a processor of this machine, within a factor of"
            f" {OTHER_MACHINE:g}: assumed, not measured"
        )
    else:
        yield (
            "a vCPU of another family does as much as one of the run's, within a factor of"
            f" {OTHER_FAMILY:g}: assumed, not measured"
        )
    yield "burstable classes have the processors that their credits last for"


def _of_memory(run: Measured) -> Iterator[str]:
    profile = run.known.profile
    if profile.own.pool_bytes is not None:
        yield (
            "a parameter sets the buffer pool, so that a class with more memory reads as much:"
            " raise it for more"
        )
    elif profile.pool is None:
        yield (
            "how reads change with memory is unknown, since the server has no figures of its pages,"
            " or missed none: classes with less memory are left out, and more memory is not counted"
            " on"
        )
    else:
        yield (
            "fewer pages are read with more memory, along a convex curve between what was measured"
            " and a pool that holds every page; each I/O less saves up to"
            f" {IO_CPU_S.high * 1e6:g} us of a processor: assumed, not measured"
        )


def _of_storage(run: Measured) -> Iterator[str]:
    if isinstance(run.target, AuroraTarget):
        yield "Aurora's storage has no limit of its own, and its I/Os are in no price here"
        return
    constants = "the emulated volumes' constants" if run.result.local else "assumed constants"
    exact = "" if run.result.local else f", within a factor of {OTHER_CONSTANTS:g}"
    yield f"an idle volume of another type takes an I/O as long as {constants} say{exact}"
    yield "gp2 without burst credits, instances at the rate that they sustain"
