"""CloudFormation's resources on one machine: a database server on an emulated volume."""
