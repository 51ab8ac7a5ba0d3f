"""The functions' code as CDK assets, built by uv on this machine without containers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from plimsoll.model.deployment.functions import Function
from stacks.packaging import FUNCTIONS_FOLDER, Kind, Platform, build_package, choose_kinds

ARCHITECTURES = {
    "aarch64": lambda_.Architecture.ARM_64,
    "x86_64": lambda_.Architecture.X86_64,
}


class Packages:
    """One asset for each kind of package, shared by the functions that it serves.

    runtime, architecture: The Lambda runtime and architecture for the packages' platform.
    """

    def __init__(self, rows: Iterable[Function], platform: Platform) -> None:
        self._platform = platform
        self.runtime = lambda_.Runtime(
            f"python{platform.python_version}", lambda_.RuntimeFamily.PYTHON
        )
        self.architecture = ARCHITECTURES[platform.processor]
        self._kinds = choose_kinds(rows, platform)
        self._codes: dict[Kind, lambda_.Code] = {}

    def code(self, row: Function) -> lambda_.Code:
        """Return a function's code."""
        kind = self._kinds[row.name]
        if kind not in self._codes:
            self._codes[kind] = lambda_.Code.from_asset(
                str(FUNCTIONS_FOLDER),
                # The default hash covers the sources only: it misses a changed wheel or lock.
                asset_hash_type=AssetHashType.OUTPUT,
                bundling=BundlingOptions(
                    # Unused, but it distinguishes assets: the CDK reuses one with equal options as
                    # JSON, and every `local` is equal there.
                    environment={"PACKAGE": f"{kind.name} {self._platform}"},
                    image=DockerImage.from_registry("no container engine is used"),
                    local=_Uv(kind, self._platform),
                ),
            )
        return self._codes[kind]


@jsii.implements(ILocalBundling)
class _Uv:
    """Builds a package for the CDK; raises on failure, since `False` would mean Docker."""

    def __init__(self, kind: Kind, platform: Platform) -> None:
        self._kind = kind
        self._platform = platform

    def try_bundle(self, output_dir: str, options: Any = None, **_: Any) -> bool:
        """Build the package into a folder."""
        del options
        build_package(self._kind, Path(output_dir), self._platform)
        return True
