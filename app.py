"""What `cdk deploy` deploys: Plimsoll, as `context.plimsoll` in cdk.json says."""

import json
import sys

from aws_cdk import App, Environment

from plimsoll.errors import PlimsollError
from plimsoll.model.deployment.deployment import read_deployment
from stacks.plimsoll import PlimsollStack


def main() -> None:
    """Define one stack in each region; wrong configuration is a line for each error, no trace."""
    app = App()
    given = app.node.try_get_context("plimsoll")
    try:
        config = read_deployment(json.loads(given) if isinstance(given, str) else given)
        if not config.regions:
            PlimsollStack(app, config.stack_name, config)
        for region in config.regions:
            name = f"{config.stack_name}-{region}"
            PlimsollStack(app, name, config, env=Environment(region=region))
        app.synth()
    except PlimsollError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
