"""Published ratios beside measured ones. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll import words
from plimsoll.model.results import RunResult
from plimsoll.report.ratios import ratio_of
from plimsoll.report.reference import PublishedRatio


def ratio_words(of: RunResult, to: RunResult) -> str:
    """A measured ratio with its interval, or that there is none."""
    ratio = ratio_of(of.run_id, of.capacity, to.run_id, to.capacity)
    if ratio is None:
        return "none: one has no figure, or both are bounds"
    interval = f" (95 % {words.ratio_interval(ratio.low, ratio.high)})"
    tail = "" if ratio.low is None else interval
    return f"{words.ratio(ratio.value, ratio.bound)} times{tail}"


def ratio_sentences(published: PublishedRatio, results: Sequence[RunResult]) -> Iterator[str]:
    """Say what was measured of a published ratio, once for each question that has both targets."""
    for one in results:
        if not _is(one, published.of) or not _holds(one, published.where):
            continue
        rest = _without(one, published.of)
        for other in results:
            if _is(other, published.to) and _without(other, published.to) == rest:
                told = ratio_words(one, other)
                said = words.ratio(published.ratio, published.bound)
                doubt = f" ({published.doubt})" if published.doubt else ""
                names = f"{_name(one, published.of)} to {_name(other, published.to)}"
                load = f"{', '.join(rest)}: " if rest else ""
                yield f"{load}{names}: published {said} times{doubt}, measured {told}."


def _variants(result: RunResult) -> list[str]:
    tags: Mapping[str, str] = result.request.tags
    return [value for key, value in tags.items() if key != "experiment"]


def _is(result: RunResult, names: Sequence[str]) -> bool:
    return any(name in _variants(result) for name in names)


def _holds(result: RunResult, where: Mapping[str, Sequence[str]]) -> bool:
    return all(_is(result, names) for names in where.values())


def _without(result: RunResult, names: Sequence[str]) -> list[str]:
    return [variant for variant in _variants(result) if variant not in names]


def _name(result: RunResult, names: Sequence[str]) -> str:
    return next(variant for variant in _variants(result) if variant in names)
