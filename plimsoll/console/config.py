"""The page's configuration (`config.json`): which service is behind it."""

from typing import Literal

from pydantic import Field

import plimsoll
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Verdict
from plimsoll.model.judging.verdicts import list_verdict_names

# only the page's own files: nothing inline, no other host, and no embedding in frames
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none';"
    " form-action 'none'"
)


class ConsoleConfig(Model):
    """The address of the API, and what the page may do there."""

    api_url: str = Field(
        "",
        description="Base URL of the API, without a trailing slash; empty for the page's own"
        " server.",
    )
    events_path: str | None = Field(
        "/events",
        description="Path of the event stream; null if there is none, and the page polls.",
    )
    auth: Literal["token", "none", "gateway"] = Field(
        "token",
        description="How calls are authorized: by the token in the link, not at all, or by a"
        " gateway.",
    )
    may_start: bool = Field(True, description="Whether the page may start runs.")
    may_stop: bool = Field(True, description="Whether the page may stop runs.")
    run_id: str | None = Field(
        None,
        description="Identifier of the only run that the page shows; null if it shows the list.",
    )
    one_run: bool = Field(
        False, description="Whether there is a single run, which the list then leads to at once."
    )
    poll_s: float = Field(
        2.0, gt=0, description="Seconds between two polls, if there is no event stream."
    )
    verdicts: dict[Verdict, str] = Field(
        default_factory=list_verdict_names, description="Display name of each verdict."
    )
    where: str = Field("this machine", description="Place where the runs happen, in words.")
    version: str = Field(plimsoll.__version__, description="Version of Plimsoll.")
