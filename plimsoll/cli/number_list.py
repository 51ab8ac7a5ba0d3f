"""Several numbers in one option: `--connections 1,2,4`."""

import math
from typing import Any

import click


class NumberList(click.ParamType[tuple[float, ...]]):
    """Numbers above 0, with commas between them."""

    name = "numbers"

    def __init__(self, *, whole: bool = False) -> None:
        """Take whole numbers only, or any."""
        self.whole = whole

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Read the numbers, or say which one is wrong."""
        numbers = []
        for text in str(value).split(","):
            try:
                number = float(text)
            except ValueError:
                number = math.nan
            if not 0 < number < math.inf or (self.whole and number != int(number)):
                kind = "whole number" if self.whole else "number"
                self.fail(f"{text.strip()!r} is not a {kind} above 0.", param, ctx)
            numbers.append(number)
        return tuple(numbers)
