"""The state machines' definitions: read and substituted in the same way on AWS and on one machine.

A definition names what a deployment gives it as `${Name}`: a function's ARN
(`plimsoll.model.deployment.function.Function.arn_placeholder`), another machine's
(`machine_placeholder`) or a `Setting`.
"""

import re
from collections.abc import Mapping

from plimsoll.errors import PlimsollError
from plimsoll.packaged import packaged_folder

FOLDER = packaged_folder("statemachines")
STATE_MACHINES = tuple(sorted(path.name.split(".")[0] for path in FOLDER.glob("*.asl.json")))
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z0-9]+)\}")


def read_definition(name: str) -> str:
    """Read a state machine's definition, its `${...}` untouched."""
    return (FOLDER / f"{name}.asl.json").read_text()


def machine_placeholder(name: str) -> str:
    """Give the name of a state machine's ARN in a definition: `RunStateMachineArn`."""
    return "".join(word.capitalize() for word in name.split("-")) + "StateMachineArn"


def placeholders(definition: str) -> tuple[str, ...]:
    """Name what a definition wants substituted, each once, in order of appearance."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(definition)))


def substitute(definition: str, values: Mapping[str, str]) -> str:
    """Replace every `${Name}`, as CloudFormation's `DefinitionSubstitutions` does.

    Raises:
        PlimsollError: A name has no value.
    """
    missing = [name for name in placeholders(definition) if name not in values]
    if missing:
        raise PlimsollError(f"the state machine names what nobody gives it: {', '.join(missing)}")
    return _PLACEHOLDER.sub(lambda match: values[match[1]], definition)
