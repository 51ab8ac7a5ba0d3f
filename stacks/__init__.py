"""What is deployed: Plimsoll's AWS resources, as CDK stacks."""
