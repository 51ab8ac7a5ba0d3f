"""The templates of targets: synthesized with the app, given to CloudFormation by each run.

They live in an app of their own, so that `cdk ls` and `cdk deploy` never see them, and are
committed under `plimsoll/targets/templates/`, so that neither a function nor the local twin
needs the CDK.
"""
