"""The functions' code as assets of the CDK, built by uv on this machine without containers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from plimsoll.model.functions import Function
from stacks.packaging import AWS_LAMBDA, FUNCTIONS_FOLDER, Kind, build, kinds

RUNTIME = lambda_.Runtime.PYTHON_3_14
ARCHITECTURE = lambda_.Architecture.ARM_64


class Packages:
    """One asset for each kind of package, shared by the functions that it serves."""

    def __init__(self, rows: Iterable[Function]) -> None:
        self._kinds = kinds(rows)
        self._codes: dict[Kind, lambda_.Code] = {}

    def code(self, row: Function) -> lambda_.Code:
        """Give the code of a function."""
        kind = self._kinds[row.name]
        if kind not in self._codes:
            self._codes[kind] = lambda_.Code.from_asset(
                str(FUNCTIONS_FOLDER),
                # the default hash is that of the sources: it misses a changed wheel or lock
                asset_hash_type=AssetHashType.OUTPUT,
                bundling=BundlingOptions(
                    image=DockerImage.from_registry("no container engine is used"),
                    local=_Uv(kind),
                ),
            )
        return self._codes[kind]


@jsii.implements(ILocalBundling)
class _Uv:
    """Builds a package where CDK says; raises on failure, for `False` would mean Docker."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def try_bundle(self, output_dir: str, options: Any = None, **_: Any) -> bool:
        """Build the package into a folder."""
        del options
        build(self._kind, Path(output_dir), AWS_LAMBDA)
        return True
