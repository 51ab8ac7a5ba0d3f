"""Builds the functions' packages and prints their sizes: `make package`."""

import shutil
import sys

from plimsoll.errors import PlimsollError
from plimsoll.model.deployment.functions import FUNCTIONS, OF_DEPLOYMENT
from stacks.imports import ROOT
from stacks.packaging import AWS_LAMBDA, build_package, choose_kinds, measure_mib

OUT = ROOT / "dist" / "packages"


def main() -> None:
    """Build each kind of package for Lambda; print its size and its functions."""
    chosen = choose_kinds([*FUNCTIONS.values(), *OF_DEPLOYMENT], AWS_LAMBDA)
    for kind in sorted(set(chosen.values()), key=lambda kind: kind.name):
        folder = OUT / kind.name
        shutil.rmtree(folder, ignore_errors=True)
        build_package(kind, folder, AWS_LAMBDA)
        served = [name for name, its in chosen.items() if its == kind]
        print(f"{kind.name:10} {measure_mib(folder):6.1f} MiB unzipped  {', '.join(served)}")


if __name__ == "__main__":
    try:
        main()
    except PlimsollError as error:
        sys.exit(f"make package: {error}")
