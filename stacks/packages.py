"""The functions' code as assets of the CDK, built by uv on this machine without containers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from plimsoll.model.deployment.functions import Function
from stacks.packaging import FUNCTIONS_FOLDER, Kind, Platform, build, kinds

ARCHITECTURES = {
    "aarch64": lambda_.Architecture.ARM_64,
    "x86_64": lambda_.Architecture.X86_64,
}


class Packages:
    """One asset for each kind of package, shared by the functions that it serves.

    runtime, architecture: What the functions must run on, by the platform of the packages.
    """

    def __init__(self, rows: Iterable[Function], platform: Platform) -> None:
        self._platform = platform
        self.runtime = lambda_.Runtime(
            f"python{platform.python_version}", lambda_.RuntimeFamily.PYTHON
        )
        self.architecture = ARCHITECTURES[platform.processor]
        self._kinds = kinds(rows, platform)
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
                    # never used, but it tells assets apart: the CDK builds no second one whose
                    # options read alike as JSON, and there every `local` reads alike
                    environment={"PACKAGE": f"{kind.name} {self._platform}"},
                    image=DockerImage.from_registry("no container engine is used"),
                    local=_Uv(kind, self._platform),
                ),
            )
        return self._codes[kind]


@jsii.implements(ILocalBundling)
class _Uv:
    """Builds a package where CDK says; raises on failure, for `False` would mean Docker."""

    def __init__(self, kind: Kind, platform: Platform) -> None:
        self._kind = kind
        self._platform = platform

    def try_bundle(self, output_dir: str, options: Any = None, **_: Any) -> bool:
        """Build the package into a folder."""
        del options
        build(self._kind, Path(output_dir), self._platform)
        return True
