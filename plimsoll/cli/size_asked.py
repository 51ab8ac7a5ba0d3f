"""What `plimsoll size` is asked, read from its options."""

import re
from pathlib import Path

from plimsoll.errors import UsageError
from plimsoll.finding.quantities import limits_us
from plimsoll.model.prices import HOME_REGION, PriceOverrides, PriceTable
from plimsoll.model.results import RunResult
from plimsoll.prices import prices_for
from plimsoll.report.folder import read_model
from plimsoll.runs.sizes import operations_of, own_limits_us

_SHARE = re.compile(r"(\d{1,2}(?:\.\d{1,3})?) ?%", re.ASCII)


def limits_of(result: RunResult, given: tuple[str, ...]) -> dict[str, float]:
    """Read `--limit`; without any, take those that the run was judged by.

    Raises:
        UsageError: One is none, or an operation has none.
    """
    operations = operations_of(result)
    known = limits_us(given, operations) if given else own_limits_us(result)
    lacking = [name for name in operations if name not in known]
    if lacking:
        example = " ".join(f"--limit {name}=20ms" for name in lacking)
        raise UsageError(
            f"--limit: none for {', '.join(lacking)}: write {example}, or --limit 20ms"
        )
    return known


def share_of(text: str) -> float:
    """Read `--headroom`; gives a share.

    Raises:
        UsageError: It is none.
    """
    found = _SHARE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--headroom: {text!r} is no share below 100 %: write 30%")
    return float(found[1]) / 100


def prices_of(region: str | None, file: Path | None) -> PriceTable:
    """Find a region's prices.

    Args:
        region: Whose; None: those of the file, or those that are built in.
        file: As `plimsoll prices` writes it.

    Raises:
        UsageError: There are none here, or the file is of another region.
    """
    if file is None:
        if region not in {None, HOME_REGION}:
            raise UsageError(
                f"--region: no prices of {region} are here, only those of {HOME_REGION}: write them"
                f" with `plimsoll prices --region {region}`, and give the file with --prices"
            )
        return prices_for(PriceOverrides())
    overrides = read_model(file, PriceOverrides)
    if region not in {None, overrides.region}:
        raise UsageError(f"--region: {region}, and the prices of --prices are {overrides.region}'s")
    return prices_for(overrides)
