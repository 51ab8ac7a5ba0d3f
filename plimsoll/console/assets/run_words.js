/** What stands in several views about a run: its state, its figure, what became of its target. */
import { h, svg } from "./dom.js";
import { hasEnded } from "./live.js";
import * as words from "./words.js";

const SPARK = { width: 84, height: 22 };

/** What people call each verdict: filled from config.json. @type {Record<string, string>} */
export const VERDICTS = {};

/** A verdict for people. @param {string | null} verdict */
export const verdictWords = (verdict) => (verdict === null ? words.NOTHING : (VERDICTS[verdict] ?? verdict));

/** A state for people: `running`, `timed out`. @param {string | null} state */
export const stateWords = (state) => (state ?? "not started").toLowerCase().replaceAll("_", " ");

/** A state as a tag; green alone where it stands above an answer. @param {string | null} state @param {boolean} [answered] */
export function stateTag(state, answered = true) {
  const kind = state === null || !hasEnded(state) ? "going" : state !== "SUCCEEDED" ? "undecided" : answered ? "decided" : "ended";
  return h("span", { class: `tag ${kind}` }, stateWords(state));
}

/** What became of a load, as its mark on the curve says it. @param {any} load */
export function outcomeOf({ passed, decides, reasons }) {
  const audited = (/** @type {string} */ reason) => reason.startsWith("audit:");
  if (!decides) return reasons.some(audited) ? "disputed" : "client-bound";
  if (passed) return "passed";
  const open = reasons.length > 0 && reasons.every((/** @type {string} */ reason) => audited(reason) || reason.startsWith("undecided:"));
  return open ? "undecided" : "failed";
}

/** A run's figure with its bound: `≥ 5,600`. @param {any} run */
export const figureWords = ({ capacity_ops_per_second: figure, bound }) => (figure === null ? words.NOTHING : words.bounded(words.rate(figure), bound));

/** A figure of a check's metric, whose name tells its unit. @param {string} metric @param {number | null} value */
export const metricWords = (metric, value) => (metric.startsWith("latency") ? words.latency(value) : words.rate(value));

/** Its 95 % interval. @param {{low_ops_per_second: number, high_ops_per_second: number} | null} interval */
export const intervalWords = (interval) =>
  interval === null ? words.NOTHING : `${words.rate(interval.low_ops_per_second)} to ${words.rate(interval.high_ops_per_second)}`;

/** What a run has cost, or is expected to. @param {any} run */
export function costWords({ cost_usd: cost, expected_usd: expected, local }) {
  if (cost !== null) return words.usd(cost);
  if (local) return "none here";
  return expected === null ? words.NOTHING : `about ${words.usd(expected)}`;
}

/** Whether its target is gone, with the moment in which that was seen. @param {any} run */
export function goneWords({ deleted_at: deleted, state }) {
  if (deleted) return `gone ${words.moment(deleted)}`;
  return hasEnded(state) ? "not created, or deletion not confirmed" : words.NOTHING;
}

/** Throughput by load, small. @param {[number, number][]} curve */
export function spark(curve) {
  if (curve.length < 2) return h("span", { class: "note" }, curve.length ? "one load" : words.NOTHING);
  const { width, height } = SPARK;
  const most = curve.reduce((a, [, ops]) => Math.max(a, ops), 0);
  const [first, last] = [curve[0][0], curve[curve.length - 1][0]];
  const x = (/** @type {number} */ load) => 3 + ((load - first) / (last - first || 1)) * (width - 6);
  const y = (/** @type {number} */ ops) => height - 2 - (ops / (most || 1)) * (height - 5);
  const path = curve.map(([load, ops], i) => `${i ? "L" : "M"}${x(load).toFixed(1)},${y(ops).toFixed(1)}`).join("");
  const label = `Throughput over ${curve.length} loads, at most ${words.rate(most)} ops/s`;
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, svg("path", { d: path, stroke: "var(--series-1)", class: "stroke" }));
}
