/** A check's history: each metric over time with its change points, and the control beside it. */
import { h, table } from "./dom.js";
import { drawing } from "./drawing.js";
import { href } from "./routes.js";
import { metricWords, verdictWords } from "./run_words.js";
import * as words from "./words.js";

/**
 * @param {import("./main.js").View} view
 */
export async function showCheck({ main, service, signal, id }) {
  const path = `/schedules/${encodeURIComponent(id ?? "")}`;
  const [check, history] = await Promise.all([service.get(path, signal), service.get(`${path}/history`, signal)]);
  document.title = `${check.name} · Plimsoll`;
  main.append(
    h("p", { class: "kicker" }, "A check"),
    h("h1", {}, check.name),
    h("p", { class: "under" }, [words.schedule(check.schedule), check.enabled ? check.next_at && `next ${words.moment(check.next_at)}` : "disabled", check.description].filter(Boolean).join(" · ")),
    ...history.silences.map((/** @type {any} */ silence) => h("p", { class: "problem" }, `${words.capitalized(silence.metric)}: ${words.plural(silence.runs, "run")} since ${words.moment(silence.since)} without an answer: ${silence.why}`)),
    ...metricsOf(history).map((metric) => {
      const chart = drawing(service, "history", signal, "No run has given a figure yet.");
      chart.show({ metric, history });
      return figureOf(metric, chart.element);
    }),
    h("h2", {}, "Changes"),
    changesTable(history),
    h("h2", {}, "Every point"),
    pointsTable(history, metricsOf(history)),
  );
}

/** @param {any} history */
const metricsOf = ({ points }) => [...new Set(points.flatMap((/** @type {any} */ point) => Object.keys(point.target.figures)))].map(String);

/** @param {string} metric @param {HTMLElement} chart */
function figureOf(metric, chart) {
  return h("figure", {}, h("h2", {}, words.capitalized(metric)), chart,
    h("figcaption", {}, "Vertical bar: the 95 % interval of a point. Triangle: at least; diamond: below. Gap: that run has no figure. Vertical line: a change; dashed: the means before and after it."));
}

const FIGURES_LEAST = 8; // with fewer, no change can be told from noise (plimsoll/checks/statistics.py)

/** @param {any} history */
function changesTable({ changes, points }) {
  const figures = points.filter((/** @type {any} */ point) => Object.values(point.target.figures).some((figure) => /** @type {any} */ (figure).value !== null)).length;
  if (!changes.length && figures < FIGURES_LEAST) return h("p", { class: "note" }, `Not to be told yet: ${figures} of the ${FIGURES_LEAST} runs with a figure that it takes at least.`);
  if (!changes.length) return h("p", { class: "note" }, `No change in ${words.plural(figures, "run")} with a figure.`);
  return table("Changes", ["From", "Metric", "Before", "After", "Change", "p-value", "Judged"], changes.map((/** @type {any} */ change) => [
    h("a", { href: href(`/runs/${change.run_id}`) }, words.moment(change.at)),
    change.metric,
    `${metricWords(change.metric, change.before.mean)} (${words.plural(change.before.runs, "run")})`,
    `${metricWords(change.metric, change.after.mean)} (${words.plural(change.after.runs, "run")})`,
    words.percent(change.change_share),
    change.p_value.toPrecision(2),
    change.regression ? h("span", { class: "failed" }, "regression") : "improvement",
  ]), "words");
}

/** @param {any} history @param {string[]} metrics */
function pointsTable({ points }, metrics) {
  const columns = ["Scheduled", "Verdict", ...metrics.flatMap((metric) => [metric, `${metric}, control`]), "Notes"];
  return table("Every point", columns, [...points].reverse().map((point) => [
    point.target.run_id ? h("a", { href: href(`/runs/${point.target.run_id}`) }, words.moment(point.scheduled_at)) : words.moment(point.scheduled_at),
    verdictWords(point.target.verdict),
    ...metrics.flatMap((metric) => [point.target, point.control].map((run) => figureWords(metric, run?.figures[metric]))),
    [point.target.problem, point.control?.problem].filter(Boolean).join("; ") || words.NOTHING,
  ]), "loads");
}

/** @param {string} metric @param {any} figure */
function figureWords(metric, figure) {
  if (!figure) return words.NOTHING;
  if (figure.at_least != null) return `≥ ${metricWords(metric, figure.at_least)}`;
  if (figure.below != null) return `< ${metricWords(metric, figure.below)}`;
  return figure.value === null ? (figure.why_none ?? words.NOTHING) : metricWords(metric, figure.value);
}
