"""A derived workload as a file."""

from collections.abc import Mapping
from typing import Any

import yaml

from plimsoll.documents import MAX_CHARACTERS
from plimsoll.errors import UsageError


class _Whole(yaml.SafeDumper):
    """Writes every part in full, without YAML aliases, so that people find it in its place."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def dump_document(document: Mapping[str, Any]) -> str:
    """Return a workload's document as YAML.

    Raises:
        UsageError: It is longer than a workload may be.
    """
    text = yaml.dump(
        dict(document),
        Dumper=_Whole,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=None,
        width=100,
    )
    if len(text) > MAX_CHARACTERS:
        raise UsageError(
            f"the workload would be longer than {MAX_CHARACTERS} characters: --tables chooses some"
        )
    return text
