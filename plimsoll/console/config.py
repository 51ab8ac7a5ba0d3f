"""The page's configuration (`config.json`): which service is behind it."""

from typing import Literal

from pydantic import Field

import plimsoll
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Verdict
from plimsoll.model.judging.verdicts import verdict_names

# only the page's own files: nothing inline, no other host, and no embedding in frames
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none';"
    " form-action 'none'"
)


class ConsoleConfig(Model):
    """The address of the API, and what the page may do there."""

    api_url: str = Field("", description="Of the API, without a slash at its end; ``: the page's.")
    events_path: str | None = Field(
        "/events", description="Of the stream of events; null: there is none, and it polls."
    )
    auth: Literal["token", "none", "gateway"] = Field(
        "token",
        description="What calls carry: the token of the link, nothing, or what a gateway adds.",
    )
    may_start: bool = Field(True, description="Whether runs can be started.")
    may_stop: bool = Field(True, description="Whether they can be stopped.")
    run_id: str | None = Field(None, description="The one run that it is about; null: the list.")
    one_run: bool = Field(False, description="Whether its list has one run alone: it leads there.")
    poll_s: float = Field(2.0, gt=0, description="Between two polls, where there is no stream.")
    verdicts: dict[Verdict, str] = Field(
        default_factory=verdict_names, description="What people call each verdict."
    )
    where: str = Field("this machine", description="In words.")
    version: str = Field(plimsoll.__version__, description="Plimsoll's.")
