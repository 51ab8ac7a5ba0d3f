"""The app that `cdk deploy` deploys, with packages for this machine, where the emulator runs them.

Run by `npx cdk --app`; the context of cdk.json and of `cdk -c` reaches it as it reaches app.py.
"""

import json
import sys

from aws_cdk import App

from plimsoll.errors import PlimsollError
from plimsoll.model.deployment.deployment import read_deployment
from stacks.packaging import THIS_MACHINE
from stacks.plimsoll import PlimsollStack


def main() -> None:
    """Define the stack of a deployment."""
    app = App()
    given = app.node.try_get_context("plimsoll")
    try:
        config = read_deployment(json.loads(given) if isinstance(given, str) else given)
        PlimsollStack(app, config.stack_name, config, platform=THIS_MACHINE)
        app.synth()
    except PlimsollError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
