r"""Text in a definition is JSON's: `"\""` is one character.

moto does not decode the escapes of a text in `Assign`. It decodes those of other texts as Python
does, which has no `\/` and no pairs of surrogates. On AWS, `"\""` was seen to be equal to `'"'`.
"""

import json
from typing import Any

from moto.stepfunctions.parser.asl.component.common.assign.assign_template_value_terminal import (
    AssignTemplateValueTerminalLit,
)
from moto.stepfunctions.parser.asl.parse import preprocessor

from plimsoll.local.replacing import replace_members


def _read_text(parser_rule_context: Any) -> str:
    text: str = json.loads(parser_rule_context.getText())
    return text


def _read_assigned(self: preprocessor.Preprocessor, ctx: Any) -> AssignTemplateValueTerminalLit:
    del self
    return AssignTemplateValueTerminalLit(value=_read_text(ctx.string_literal()))


def apply() -> None:
    """Read texts as JSON."""
    replace_members(preprocessor, from_string_literal=_read_text)
    replace_members(
        preprocessor.Preprocessor,
        visitAssign_template_value_terminal_string_literal=_read_assigned,
    )
