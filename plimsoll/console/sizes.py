"""What to buy for a load, for a page that asks repeatedly: the answer with its texts. Pure."""

from collections.abc import Iterable
from datetime import date
from shlex import join
from typing import Self

from pydantic import Field

from plimsoll.model.aws.prices import HOME_REGION
from plimsoll.model.base import Model
from plimsoll.model.judging.steps import Statistic
from plimsoll.sizing.answer import Negative, Option, Sizing
from plimsoll.sizing.rank import describe_bound
from plimsoll.sizing.size import name_purchase


class OptionShown(Option):
    """A target and what it sustains: measured, or predicted with an interval."""

    target_words: str = Field(description="Instance class and volume.")
    binds_words: str | None = Field(
        description="Resource that limits it first; null if none is known."
    )
    next_words: str | None = Field(
        description="Resource that limits it next; null if none is known."
    )

    @classmethod
    def of(cls, option: Option) -> Self:
        """Add texts to an option."""
        return cls(
            **dict(option),
            target_words=name_purchase(option.target),
            binds_words=None if option.binds is None else describe_bound(option.binds),
            next_words=None if option.next is None else describe_bound(option.next),
        )


class SizesShown(Model):
    """The answer of `plimsoll size`, from one run."""

    sentence: str = Field(
        description="Answer in one sentence: what to buy, or that nothing carries the load."
    )
    warning: str | None = Field(
        description="Why the run is weak ground for a purchase; null if it is not."
    )
    run: str = Field(description="Identifier of the run that the answer is computed from.")
    want_ops_per_second: float = Field(description="Load to carry, in operations per second.")
    headroom: float = Field(description="Share of the load line to keep free.")
    required_ops_per_second: float = Field(
        description="Load line needed to carry the load and keep that share free, in operations"
        " per second."
    )
    statistic: Statistic = Field(description="Latency statistic that the limits apply to.")
    limits_us: dict[str, float] = Field(
        description="Latency limit of each operation in microseconds, by name."
    )
    region: str = Field(description="Region of the prices.")
    as_of: date | None = Field(description="Date of the oldest price; null if there is no price.")
    options: tuple[OptionShown, ...] = Field(
        description="Targets that surely carry the load, cheapest first, those without a price"
        " last; then the cheaper ones that may carry it; at most `limit`."
    )
    options_in_all: int = Field(description="Number of targets that carry the load, or may.")
    measured: tuple[OptionShown, ...] = Field(
        description="The measured run itself, whether or not its target carries the load."
    )
    cannot: tuple[Negative, ...] = Field(
        description="Targets that do not carry the load, and what limits them."
    )
    assumptions: tuple[str, ...] = Field(description="Assumptions of the predictions.")
    command: str = Field(
        description="Command that computes the same on a machine that has the run's files in"
        " `plimsoll-results/`."
    )


def show_sizes(answer: Sizing, *, most: int) -> SizesShown:
    """Return an answer with a limited number of options."""
    same = {
        name: getattr(answer, name) for name in Sizing.model_fields.keys() & SizesShown.model_fields
    }
    return SizesShown(
        **same
        | {
            "options": tuple(map(OptionShown.of, answer.options[:most])),
            "options_in_all": len(answer.options),
            "measured": tuple(map(OptionShown.of, answer.measured)),
            "command": join(_write_command(answer)),
        }
    )


def _write_command(answer: Sizing) -> Iterable[str]:
    yield from ("plimsoll", "size", answer.run, "--want", f"{answer.want_ops_per_second:.12g}")
    for name, us in answer.limits_us.items():
        yield from ("--limit", f"{name}={_write_latency(us)}")
    yield from ("--statistic", answer.statistic, "--headroom", f"{100 * answer.headroom:.5g}%")
    if answer.region != HOME_REGION:
        yield from ("--region", answer.region, "--prices", f"{answer.region}.json")


def _write_latency(us: float) -> str:
    """Write a latency without loss of precision: `20ms`, `3217.25us`."""
    whole = us.is_integer()
    return f"{us / 1000:.12g}ms" if whole else f"{us:.6f}".rstrip("0").rstrip(".") + "us"
