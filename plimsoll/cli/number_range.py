"""An option that takes a number."""

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """A number within bounds. `nan`, which no bound keeps out, is none."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the number, or say what is wrong with it."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return number
