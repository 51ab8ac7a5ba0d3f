"""CloudFormation's resources on one machine: database servers on emulated volumes."""
