"""The templates of targets: synthesized with the app, and passed to CloudFormation by each run.

They are in an app of their own, so that `cdk ls` and `cdk deploy` never see them. They are
committed under `plimsoll/targets/templates/`, so that neither a function nor the local twin needs
the CDK.
"""
