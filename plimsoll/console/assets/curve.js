/**
 * Latency over throughput: of one run a line for each operation, of several runs a line for each.
 *
 * @typedef {import("./chart.js").Outcome} Outcome
 * @typedef {object} Load one load, its repetitions together, as the server judged it
 * @property {number} load
 * @property {boolean | null} passed
 * @property {boolean} decides false: an audit disputes it, or the clients were the limit
 * @property {number | null} throughput_ops_per_second
 * @property {Record<string, number | null>} latency_us by operation
 * @property {Record<string, number>} limit_us
 * @property {number} repetitions
 * @property {number} repetitions_passed
 * @property {string[]} explanations
 * @typedef {object} Curve
 * @property {string} axis
 * @property {string} statistic
 * @property {Load[]} loads in their order
 * @property {[number | null, number | null] | null} bracket (passes, fails]
 * @property {{ops_per_second: number, low: number | null, high: number | null} | null} answer
 *
 * @typedef {{x: number, y: number, outcome: Outcome, told: string, label: string, ringed: boolean}} Dot
 * @typedef {object} CurveSeries
 * @property {string} name
 * @property {string} color
 * @property {Dot[]} dots
 * @property {{value: number, name: string}[]} limits in microseconds
 * @property {Curve["answer"]} answer
 */
import { color, fitted, frame, legend, levelLine, linePath, mark, room } from "./chart.js";
import { h, svg } from "./dom.js";
import { around, fromZero, linear, logarithmic } from "./scales.js";
import * as words from "./words.js";

const HEIGHT = 330;
const LABEL_APART = 22; // pixels between the numbers of two loads
const LABEL_HEIGHT = 13;

/** The operations of curves, by name: the order of their colors. @param {Curve[]} curves */
export const operationsOf = (curves) =>
  [...new Set(curves.flatMap((curve) => curve.loads.flatMap((load) => Object.keys(load.latency_us))))].sort();

/** What became of a load. @param {Load} load @returns {Outcome} */
export const outcomeOf = ({ passed, decides }) => (!decides || passed === null ? "undecided" : passed ? "passed" : "failed");

/**
 * The curve of a run as it goes on.
 * @param {import("./live.js").Live} live
 * @returns {Curve}
 */
export function curveOf({ axis, statistic, loads, bracket, run }) {
  const { capacity_ops_per_second: figure, interval } = run;
  const ends = { low: interval?.low_ops_per_second ?? null, high: interval?.high_ops_per_second ?? null };
  return { axis, statistic, loads, bracket, answer: figure === null ? null : { ops_per_second: figure, ...ends } };
}

/**
 * One run: a series for each of its operations.
 * @param {Curve} curve
 * @returns {CurveSeries[]}
 */
export function seriesOfRun(curve) {
  return operationsOf([curve]).map((operation, i) => ({
    name: operation,
    color: color(i),
    dots: dotsOf(curve, operation),
    limits: limitOf(curve, operation, operation),
    answer: i === 0 ? curve.answer : null,
  }));
}

/**
 * Several runs laid over each other: a series for each, of one operation.
 * @param {{name: string, curve: Curve}[]} runs
 * @param {string} operation
 * @returns {CurveSeries[]}
 */
export function seriesOfRuns(runs, operation) {
  return runs.map(({ name, curve }, i) => ({
    name,
    color: color(i),
    dots: dotsOf(curve, operation),
    limits: limitOf(curve, operation, name),
    answer: curve.answer,
  }));
}

/**
 * @param {Curve} curve
 * @param {string} operation
 * @returns {Dot[]}
 */
function dotsOf(curve, operation) {
  return curve.loads.flatMap((load) => {
    const [x, y, outcome] = [load.throughput_ops_per_second, load.latency_us[operation] ?? null, outcomeOf(load)];
    if (x === null || y === null) return [];
    const told = [
      `${operation} at ${words.load(load.load, curve.axis)}: ${outcome}`,
      `${words.rate(x)} ops/s, ${words.statistic(curve.statistic)} ${words.latency(y)}`,
      `${words.plural(load.repetitions, "measurement")}. ${load.explanations.join("; ")}`,
    ].join("\n");
    return [{ x, y, outcome, told, label: words.number(load.load), ringed: curve.bracket?.includes(load.load) ?? false }];
  });
}

/**
 * @param {Curve} curve
 * @param {string} operation
 * @param {string} name
 */
function limitOf(curve, operation, name) {
  const known = curve.loads.map((load) => load.limit_us[operation]).filter((limit) => limit !== undefined);
  return known.length ? [{ value: known[0], name }] : [];
}

/**
 * A place for a curve that grows; its title is the latency axis's.
 * @returns {{element: HTMLElement, show: (series: CurveSeries[], title: string, about: string) => void}}
 */
export function curveChart() {
  const [keys, chart] = [h("div", {}), h("div", { class: "chart" })];
  /** @type {Parameters<typeof drawn> | null} */
  let shown = null;
  const redraw = fitted(chart, (width) => {
    if (shown) chart.replaceChildren(drawn(shown[0], shown[1], shown[2], width));
  });
  return {
    element: h("div", {}, keys, chart),
    show(series, title, about) {
      shown = [series, title, about, 0];
      keys.replaceChildren(legend([...series, ...outcomesOf(series)]).element);
      redraw();
    },
  };
}

/**
 * The limits: those that are equal are one line with all their names; a name that would lie over
 * another stands at the other end.
 * @param {CurveSeries[]} series
 * @param {[number, number]} ends
 * @param {import("./scales.js").Scale} y
 */
function limitLines(series, ends, y) {
  /** @type {Map<string, {at: number, names: string[], stroke: string}>} */
  const lines = new Map();
  for (const { limits: own, color: stroke } of series) {
    for (const { value, name } of own) {
      const line = lines.get(words.latency(value)) ?? { at: y.at(value), names: [], stroke };
      lines.set(words.latency(value), { ...line, names: [...line.names, name] });
    }
  }
  let left = NaN;
  return [...lines].sort(([, a], [, b]) => a.at - b.at).map(([text, { at, names, stroke }]) => {
    const crowded = at - left < LABEL_HEIGHT;
    if (!crowded) left = at;
    const whose = names.length > 2 && names.length === series.length ? "all" : names.join(", ");
    return levelLine(ends, at, `limit of ${whose}: ${text}`, names.length > 1 ? "var(--ink)" : stroke, crowded);
  });
}

/** @param {CurveSeries[]} series */
function outcomesOf(series) {
  const present = new Set(series.flatMap(({ dots }) => dots.map((dot) => dot.outcome)));
  return [...present].map((outcome) => ({ name: outcome, outcome }));
}

/**
 * @param {CurveSeries[]} series
 * @param {string} title
 * @param {string} about
 * @param {number} width
 */
function drawn(series, title, about, width) {
  const dots = series.flatMap((one) => one.dots);
  const limits = series.flatMap((one) => one.limits);
  const heights = around([...dots.map((dot) => dot.y), ...limits.map((limit) => limit.value)], 1.4);
  if (!heights) return h("p", { class: "empty" }, "No load has been measured yet.");
  const space = room(width, HEIGHT);
  const widths = [...dots.map((dot) => dot.x), ...series.map(({ answer }) => answer?.high ?? answer?.ops_per_second)];
  const x = linear(fromZero(widths), space.x, width < 500 ? 4 : 8);
  const y = logarithmic(heights, space.y);
  const { drawing, marks } = frame({
    width, height: HEIGHT, x, y, label: about, yTitle: title, xTitle: "throughput, ops/s", yText: words.latency, xText: words.number,
  });
  marks.append(...limitLines(series, space.x, y));
  for (const one of series) {
    if (one.answer) marks.append(...answerMarks(one.answer, one.color, x, space.y));
  }
  for (const one of series) {
    const points = /** @type {import("./chart.js").Point[]} */ (one.dots.map((dot) => [dot.x, dot.y]));
    marks.append(svg("path", { d: linePath(points, x, y), stroke: one.color, class: "stroke faint" }));
  }
  marks.append(...series.flatMap((one) => dotMarks(one, x, y)), ...labels(dots, x, y));
  return drawing;
}

/**
 * @param {CurveSeries} series
 * @param {import("./scales.js").Scale} x
 * @param {import("./scales.js").Scale} y
 */
function dotMarks({ dots, color: stroke }, x, y) {
  return dots.flatMap((dot) => [
    dot.ringed && svg("circle", { cx: x.at(dot.x), cy: y.at(dot.y), r: 10, class: "ring" }),
    mark(dot.outcome, x.at(dot.x), y.at(dot.y), stroke, dot.told),
  ]).filter((made) => made !== false);
}

/**
 * The loads, beside the uppermost dot of each; those that would lie over another are left out.
 * @param {Dot[]} dots
 * @param {import("./scales.js").Scale} x
 * @param {import("./scales.js").Scale} y
 */
function labels(dots, x, y) {
  /** @type {[number, number][]} */
  const taken = [];
  return [...dots].sort((a, b) => b.y - a.y).flatMap((dot) => {
    const [left, top] = [x.at(dot.x), y.at(dot.y)];
    if (taken.some(([l, t]) => Math.abs(l - left) < LABEL_APART && Math.abs(t - top) < 3 * LABEL_APART)) return [];
    taken.push([left, top]);
    return [svg("text", { x: left - 8, y: top - 10, class: "axis middle" }, dot.label)];
  });
}

/**
 * @param {NonNullable<Curve["answer"]>} answer
 * @param {string} stroke
 * @param {import("./scales.js").Scale} x
 * @param {[number, number]} ends
 */
function answerMarks(answer, stroke, x, [bottom, top]) {
  const at = x.at(answer.ops_per_second);
  const line = svg("line", { x1: at, x2: at, y1: bottom, y2: top, stroke, class: "answer-line" });
  if (answer.low === null || answer.high === null) return [line];
  const [low, high] = [x.at(answer.low), x.at(answer.high)];
  return [svg("rect", { x: low, width: Math.max(1, high - low), y: top, height: bottom - top, fill: stroke, class: "interval" }), line];
}
