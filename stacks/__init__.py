"""Plimsoll's AWS resources, as CDK stacks."""
