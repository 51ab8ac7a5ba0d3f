/** One metric of a check over time: the target's figures, the control's, and where they changed. */
import { color, fitted, frame, legend, linePath, room } from "./chart.js";
import { h, svg } from "./dom.js";
import { metricWords } from "./run_words.js";
import { fromZero, linear } from "./scales.js";
import * as words from "./words.js";

const HEIGHT = 260;
const DAY_MS = 86_400_000;

/**
 * What a run of a check says of a metric, by the moment for which it was due. Pure.
 * @param {any[]} points
 * @param {"target" | "control"} which
 * @param {string} metric
 * @returns {{at: number, value: number | null, low: number | null, high: number | null, bound: ">=" | "<" | null}[]}
 */
export function seriesOf(points, which, metric) {
  return points.filter((point) => point[which]).map((point) => {
    const figure = point[which].figures[metric] ?? {};
    const bound = figure.at_least != null ? ">=" : figure.below != null ? "<" : null;
    return { at: Date.parse(point.scheduled_at), value: figure.value ?? null, low: figure.low ?? figure.at_least ?? null, high: figure.high ?? figure.below ?? null, bound };
  });
}

/**
 * @param {any} history
 * @param {string} metric
 */
export function historyChart(history, metric) {
  const series = /** @type {const} */ (["target", "control"]).map((which, i) => ({ name: which, color: color(i === 0 ? 0 : 5), points: seriesOf(history.points, which, metric) })).filter(({ points }) => points.length);
  const changes = history.changes.filter((/** @type {any} */ change) => change.metric === metric);
  const chart = h("div", { class: "chart" });
  fitted(chart, (width) => chart.replaceChildren(drawn(series, changes, metric, width)));
  return h("div", {}, legend(series).element, chart);
}

/**
 * @param {{name: string, color: string, points: ReturnType<typeof seriesOf>}[]} series
 * @param {any[]} changes
 * @param {string} metric
 * @param {number} width
 */
function drawn(series, changes, metric, width) {
  const points = series.flatMap((one) => one.points);
  const times = points.map(({ at }) => at);
  const values = points.flatMap(({ value, low, high }) => [value, low, high]);
  if (!values.some((value) => value !== null)) return h("p", { class: "empty" }, "No run has given a figure yet.");
  const space = room(width, HEIGHT);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const x = linear([first, Math.max(last, first + 1)], [space.x[0] + 8, space.x[1] - 8], Math.max(2, Math.floor(width / 130)));
  const ticks = dayTicks(first, last, Math.max(2, Math.floor(width / 130)));
  const y = linear(fromZero(values), space.y);
  const latest = series.map((one) => `${one.name} ${metricWords(metric, one.points.findLast(({ value }) => value !== null)?.value ?? null)}`).join(", ");
  const { drawing, marks } = frame({
    width, height: HEIGHT, x: { ...x, ticks }, y, yTitle: metric.startsWith("latency") ? metric : `${metric}, ops/s`, yText: (value) => metricWords(metric, value),
    xText: (at) => new Date(at).toISOString().slice(5, 10),
    label: `${metric} of ${words.plural(series[0].points.length, "run")}; latest: ${latest}; ${words.plural(changes.length, "change")}. The tables beneath have every figure.`,
  });
  for (const change of changes) marks.append(...changeMarks(change, x, y, space));
  for (const one of series) marks.append(...seriesMarks(one, x, y));
  return drawing;
}

/**
 * Days on which ticks stand, so many at most.
 * @param {number} first
 * @param {number} last
 * @param {number} most
 */
export function dayTicks(first, last, most) {
  const days = Math.floor(last / DAY_MS) - Math.ceil(first / DAY_MS) + 1;
  if (days < 1) return [first];
  const every = Math.ceil(days / most);
  return Array.from({ length: Math.ceil(days / every) }, (_, i) => (Math.ceil(first / DAY_MS) + i * every) * DAY_MS);
}

/**
 * @param {{name: string, color: string, points: ReturnType<typeof seriesOf>}} series
 * @param {import("./scales.js").Scale} x
 * @param {import("./scales.js").Scale} y
 */
function seriesMarks({ color: stroke, points, name }, x, y) {
  const line = svg("path", { d: linePath(points.map(({ at, value }) => [at, value]), x, y), stroke, class: "stroke faint" });
  const spans = points.filter(({ low, high, bound }) => low !== null && high !== null && !bound).map(({ at, low, high }) => svg("line", { x1: x.at(at), x2: x.at(at), y1: y.at(low ?? 0), y2: y.at(high ?? 0), stroke, class: "span" }));
  const dots = points.flatMap(({ at, value, low, high, bound }) => {
    const shown = value ?? (bound === ">=" ? low : high);
    if (shown === null) return [];
    const path = bound === ">=" ? "M-4,3L0,-5L4,3Z" : bound === "<" ? "M-4,-3L0,5L4,-3Z" : "M-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0Z";
    return [svg("path", { d: path, transform: `translate(${x.at(at)},${y.at(shown)})`, stroke, fill: name === "target" ? stroke : "var(--surface)", class: "mark" })];
  });
  return [line, ...spans, ...dots];
}

/**
 * @param {any} change
 * @param {import("./scales.js").Scale} x
 * @param {import("./scales.js").Scale} y
 * @param {{x: [number, number], y: [number, number]}} space
 */
function changeMarks(change, x, y, { x: [left, right], y: [bottom, top] }) {
  const at = x.at(Date.parse(change.at));
  const late = at > (left + right) / 2; // its words stand where there is room for them
  const stroke = change.regression ? "var(--fail)" : "var(--pass)";
  return [
    svg("line", { x1: at, x2: at, y1: bottom, y2: top, stroke, class: "answer-line" }),
    svg("line", { x1: Math.max(left, at - 60), x2: at, y1: y.at(change.before.mean), y2: y.at(change.before.mean), stroke, class: "limit" }),
    svg("line", { x1: at, x2: Math.min(right, at + 60), y1: y.at(change.after.mean), y2: y.at(change.after.mean), stroke, class: "limit" }),
    svg("text", { x: late ? at - 4 : at + 4, y: top + 10, class: late ? "note-text end" : "note-text" }, `${change.regression ? "regression" : "change"} ${change.change_share > 0 ? "+" : "−"}${words.percent(Math.abs(change.change_share))}`),
  ];
}
