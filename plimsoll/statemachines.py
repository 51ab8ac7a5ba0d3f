"""State machine definitions, read and substituted alike on AWS and on one machine.

A definition refers to the deployment's values as `${Name}`: the ARN of a function
(`plimsoll.model.deployment.function.Function.arn_placeholder`), the ARN of another state machine
(`name_machine_placeholder`) or a `Setting`.
"""

import re
from collections.abc import Mapping

from plimsoll.errors import PlimsollError
from plimsoll.packaged import find_packaged_folder

FOLDER = find_packaged_folder("statemachines")
STATE_MACHINES = tuple(sorted(path.name.split(".")[0] for path in FOLDER.glob("*.asl.json")))
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z0-9]+)\}")


def read_definition(name: str) -> str:
    """Read the definition of a state machine, without substituting `${...}`."""
    return (FOLDER / f"{name}.asl.json").read_text()


def name_machine_placeholder(name: str) -> str:
    """Return the placeholder of a state machine's ARN in a definition: `RunStateMachineArn`."""
    return "".join(word.capitalize() for word in name.split("-")) + "StateMachineArn"


def list_placeholders(definition: str) -> tuple[str, ...]:
    """List the placeholders of a definition, each once, in order of appearance."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(definition)))


def fill_placeholders(definition: str, values: Mapping[str, str]) -> str:
    """Replace every `${Name}`, like CloudFormation's `DefinitionSubstitutions`.

    Raises:
        PlimsollError: A placeholder has no value.
    """
    missing = [name for name in list_placeholders(definition) if name not in values]
    if missing:
        raise PlimsollError(f"the state machine names what nobody gives it: {', '.join(missing)}")
    return _PLACEHOLDER.sub(lambda match: values[match[1]], definition)
