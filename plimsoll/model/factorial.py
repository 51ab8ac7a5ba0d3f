"""What a 2 x 2 of two axes with two variants each comes to: a part of `experiment.json`."""

from plimsoll.model.base import Model


class Effect(Model):
    """A ratio of throughputs with its 95 % interval."""

    ratio: float
    low: float | None = None  # None: too few repetitions
    high: float | None = None


class Factorial(Model):
    """What one axis gains where another has its first variant, and where it has its second.

    Each axis goes from the variant that is written first to the other. Effects are None where one
    of the four cells has no exact figure.
    """

    question: str  # the variants of all other axes, and the phase with its load; "all": none
    axis: str  # whose gain is asked for
    levels: tuple[str, str]  # its variants
    beside: str  # the axis on which the gain may depend
    beside_levels: tuple[str, str]
    # of the cells, those of the first of `beside` first; None: there are no effects
    repetitions: tuple[int, int, int, int] | None
    main: Effect | None  # of `axis`, over both variants of `beside`
    beside_main: Effect | None  # of `beside`, over both variants of `axis`
    interaction: Effect | None  # what `axis` gains on the second of `beside` over that on the first
    gain_on: tuple[Effect, Effect] | None  # of `axis`, on each variant of `beside`
    sentence: str
