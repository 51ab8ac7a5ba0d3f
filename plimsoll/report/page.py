"""`report.html`: one self-contained page of a run. Pure: figures in, text out."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from importlib import resources

import jinja2
import yaml
from markupsafe import Markup

from plimsoll import words
from plimsoll.capacity.conditions import describe_conditions
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.run.results import RunResult, Seconds
from plimsoll.quoting.costs import compute_usd_per_million
from plimsoll.report import (
    tables,
)
from plimsoll.report.charts import (
    curve,
    rows,
    theme,
    timeline,
)
from plimsoll.report.charts import (
    curve as by_load,
)
from plimsoll.report.charts import (
    timeline as heat_map,
)
from plimsoll.report.charts.chart import Chart
from plimsoll.report.charts.html import draw_chart, format_moment_data
from plimsoll.report.headline import build_headline, suggest_next_step
from plimsoll.report.phase_tables import make_run_phases_table
from plimsoll.report.size_tables import build_ranking
from plimsoll.report.tables import describe_backgrounds, make_background_table
from plimsoll.report.words import (
    compute_hourly_usd,
    describe_run_target,
    explain_no_price,
    make_toggle_table,
)
from plimsoll.sizing.answer import Sizing

# Content-Security-Policy: allows the page's own style and scripts by their hashes only.


_INLINE = re.compile(r"<(script|style)([^>]*)>(.*?)</\1>", re.DOTALL)
_DATA = "application/json"  # data is not executed, so no policy applies to it


def write_content_security_policy(page: str) -> str:
    """Return the strictest policy under which a page works, for a header or a `meta` element.

    Args:
        page: The whole page as it is served.
    """
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for kind, attributes, text in _INLINE.findall(page):
        if _DATA not in attributes:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            hashes[kind].append(f"'sha256-{digest}'")
    allowed = {kind: " ".join(dict.fromkeys(of)) or "'none'" for kind, of in hashes.items()}
    return (
        f"default-src 'none'; script-src {allowed['script']}; style-src {allowed['style']};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


# Below the curve: what readers ask after "how much".


def answer_first_questions(
    result: RunResult, usd_per_hour: float | None = None
) -> list[tuple[str, str]]:
    """Answer what readers ask after "how much"; return questions and answers.

    Args:
        result: The run.
        usd_per_hour: The target's price per hour in dollars; None to use the run's own estimate.
    """
    capacity = result.capacity
    answers = [("What to do next", f"{suggest_next_step(result)}.")]
    if capacity is None:
        return answers
    if result.limiting is None or result.limiting.resource == "unknown":
        answers.append(("What limits it", "not known: no measurement shows it"))
    # else the facts have the interval, or there is no figure to be sure of
    figure = capacity.max_sustainable_throughput_ops_per_second
    if capacity.interval is None and figure is not None:
        answers.append(("How sure", _explain_no_interval(capacity)))
    on_its_own = result.cost is None and not result.request.target.provisioned
    if (
        compute_usd_per_million(capacity, compute_hourly_usd(result, usd_per_hour)) is None
        and not on_its_own
    ):
        answers.append(("What it costs", _explain_no_cost(result, usd_per_hour)))
    return answers


def _explain_no_interval(capacity: Capacity) -> str:
    """Say why the figure has no interval."""
    if capacity.bound != "=":
        return "a bound, not a maximum"
    return "measured once, so there is no interval"


def _explain_no_cost(result: RunResult, usd_per_hour: float | None) -> str:
    hourly = compute_hourly_usd(result, usd_per_hour)
    if hourly is not None:
        return f"{words.format_unit_usd(hourly)} an hour; no throughput to divide it by"
    return f"not known: {explain_no_price(result)}"


_POLICY = "{policy}"  # placeholder: the policy hashes the rest of the page


def _read_asset(name: str) -> str:
    return resources.files("plimsoll.report").joinpath("assets", name).read_text("utf-8")


def embed_json(value: object) -> Markup:
    """Return JSON that cannot close the script element which holds it."""
    dumped = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return Markup(dumped.replace("<", "\\u003c"))  # noqa: S704 - no tag can be in it


def write_css_text(text: str) -> Markup:
    """Write a text as a string of CSS: whatever is no letter or digit, by its number."""
    written = "".join(char if char.isalnum() else f"\\{ord(char):x} " for char in text)
    return Markup(f'"{written}"')  # noqa: S704 - no sign of CSS or HTML is left in it


_UNIT = re.compile(r"(?<=\d) (?=(?:[mµ]?s|min|h|%|[KMG]iB|IOPS|ops/s|clients?|connections?)\b|%)")


def join_units(text: str) -> str:
    """Join each figure with its unit, so that no line breaks between them."""
    return _UNIT.sub("\N{NO-BREAK SPACE}", text)


def fill_template(template: str, drawn: Sequence[Chart], *, printed: str, **values: object) -> str:
    """Fill a page's template.

    Args:
        template: The template's name; it names charts by their ids.
        drawn: The charts.
        printed: What stands above each page on paper: name and date.
        **values: What the template shows.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("plimsoll.report", "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "utc": words.format_moment,
        "number": words.format_number,
        "drawn": draw_chart,
        "css_text": write_css_text,
        "whole": join_units,
    }
    page = environment.get_template(template).render(
        policy=_POLICY,
        book=embed_json(format_moment_data(drawn)),
        printed=f"{printed} · Plimsoll",
        css=Markup(_read_asset("charts.css") + _read_asset("report.css")),  # noqa: S704 - our own files
        colors_light=Markup(theme.write_theme_css("light")),  # noqa: S704 - our own colors
        colors_dark=Markup(theme.write_theme_css("dark")),  # noqa: S704
        script=Markup(_read_asset("charts.js") + _read_asset("report.js")),  # noqa: S704 - our own files
        charts={chart.id: chart for chart in drawn},
        **values,
    )
    return page.replace(_POLICY, write_content_security_policy(page), 1)


def render_run(
    result: RunResult,
    seconds: Seconds,
    *,
    usd_per_hour: float | None = None,
    sizing: Sizing | None = None,
) -> str:
    """Render the report of a run.

    Args:
        result: The run.
        seconds: The run's series on one clock.
        usd_per_hour: The target's price per hour in dollars, from which the price per million
            operations follows; None to use the run's own estimate.
        sizing: The predictions made from the run; None if there are none.
    """
    capacity = result.capacity
    names = rows.list_operations(capacity)
    loads = (
        [curve.draw_curve(rows.collect_curve(capacity)), by_load.draw_throughput(capacity)]
        if capacity
        else []
    )
    by_operation = [by_load.draw_latency(capacity, name) for name in names] if capacity else []
    over_time = [timeline.draw_timeline(result, seconds), heat_map.draw_heat_map(result, seconds)]
    drawn = [chart for chart in (*loads, *by_operation, *over_time) if chart is not None]
    return fill_template(
        "report.html.j2",
        drawn,
        printed=f"{result.name} · {words.format_moment(result.moments.submitted)}",
        result=result,
        heading=describe_run_target(result) if result.name == "find" else result.name,
        headline=build_headline(result, usd_per_hour),
        dashboards=words.DASHBOARDS,
        first=answer_first_questions(result, usd_per_hour),
        target=describe_run_target(result),
        emulated=result.local and result.request.target.provisioned,
        load_unit=words.LOAD_UNITS[capacity.axis] if capacity else "",
        statistic=words.name_statistic(capacity.statistic).replace("m", "M", 1) if capacity else "",
        operations=names,
        limit_of={name: by_load.describe_drawn_limit(capacity, name) for name in names}
        if capacity
        else {},
        repeated=capacity is not None and any(step.repetitions > 1 for step in capacity.steps),
        ranking=build_ranking(sizing) if sizing else None,
        phases=make_run_phases_table(result.phases),
        toggle=make_toggle_table(result.toggle),
        conditions=describe_conditions(result.conditions),
        steps=tables.make_steps_table(result),
        beside=make_background_table(result),
        beside_lines=list(describe_backgrounds(result)),
        audits=tables.make_audits_table(capacity),
        audits_left_out=tables.count_left_out(capacity),
        audit_details=tables.list_audit_details(capacity),
        problems=[(s.plan.index, problem) for s in result.steps for problem in s.problems],
        request_yaml=yaml.safe_dump(
            result.request.model_dump(mode="json", exclude_none=True),
            sort_keys=False,
            allow_unicode=True,
        ),
        facts_of_run=list_run_facts(result),
    )


def _describe_place(result: RunResult) -> str:
    if not result.local:
        return "AWS"
    if result.request.target.provisioned:
        return "one machine, emulated volume"
    return "an existing database, loaded from one machine"


def list_run_facts(result: RunResult) -> list[tuple[str, str]]:
    """List the facts of a run: target, client, time, versions, seeds."""
    moments, versions, dataset = result.moments, result.versions, result.dataset
    took = (moments.ended - moments.submitted).total_seconds() if moments.ended else None
    target_lived = None
    if moments.provision is not None and moments.deleted is not None:
        target_lived = (moments.deleted - moments.provision).total_seconds()
    shown = [
        ("run", result.run_id),
        ("team", result.team),
        ("where", _describe_place(result)),
        ("ended", result.state.value.lower().replace("_", " ")),
        ("submitted", words.format_moment(moments.submitted)),
        ("took", words.format_duration(took)),
        ("target deleted", words.format_moment(moments.deleted)),
        ("target existed for", words.format_duration(target_lived)),
        ("plimsoll", versions.plimsoll),
        ("load engine", versions.engine or words.NOTHING),
        ("database, version made", (not result.local and versions.database) or words.NOTHING),
        ("server, as it names itself", versions.server or words.NOTHING),
        ("workload, SHA-256", versions.workload_sha256 or words.NOTHING),
        ("dataset, rows counted", words.format_number(result.rows)),
        ("dataset, size", dataset.size_words if dataset else words.NOTHING),
        ("dataset, order", dataset.order_words if dataset else words.NOTHING),
        ("seed", str(result.request.load.seed)),
    ]
    return [(name, value) for name, value in shown if value != words.NOTHING]
