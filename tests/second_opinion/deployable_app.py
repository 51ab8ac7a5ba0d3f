"""The app that `cdk deploy` deploys, with packages for this machine, where the emulator runs them.

Run by `npx cdk --app`; the context of cdk.json and of `cdk -c` reaches it as it reaches app.py.
With `-c upgraded=true` each package has one more module, as a newer version's would.
"""

import json
import sys
from pathlib import Path

from aws_cdk import App

from plimsoll.errors import PlimsollError
from plimsoll.model.deployment.deployment import read_deployment
from stacks import packages
from stacks.packaging import THIS_MACHINE, Kind, Platform, build_package
from stacks.plimsoll import PlimsollStack


def build_newer_package(kind: Kind, destination: Path, platform: Platform) -> None:
    """Build a package as a newer version's."""
    build_package(kind, destination, platform)
    (destination / "plimsoll/newer.py").write_text('"""A module that this version lacks."""\n')


def main() -> None:
    """Define the stack of a deployment."""
    app = App()
    if app.node.try_get_context("upgraded"):
        packages.build_package = build_newer_package
    given = app.node.try_get_context("plimsoll")
    try:
        config = read_deployment(json.loads(given) if isinstance(given, str) else given)
        PlimsollStack(app, config.stack_name, config, platform=THIS_MACHINE)
        app.synth()
    except PlimsollError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
