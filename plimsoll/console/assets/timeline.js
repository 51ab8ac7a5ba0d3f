/**
 * The panels of a run beneath one another, with one clock and one moment that all of them tell.
 *
 * @typedef {import("./panels.js").Panel} Panel
 * @typedef {import("./live.js").Live} Live
 */
import { blockPath, fitted, frame, LEFT, legend, levelLine, linePath, room } from "./chart.js";
import { h, svg } from "./dom.js";
import { beginS, lengthS, mostOf, panelsOf, stacked, valueAt, windowsOf } from "./panels.js";
import { around, fromZero, linear, logarithmic, timeTicks } from "./scales.js";
import * as words from "./words.js";

const HEIGHT = 132;
const GAP = 1.5; // bins; across more, no line is drawn

/** @returns {{element: HTMLElement, show: (live: Live) => void}} */
export function timeline() {
  const charts = h("div", { class: "chart" });
  const moment = h("input", { type: "range", min: 0, step: 1, class: "moment", "aria-label": "Moment of the run that the panels show" });
  const shown = h("span", { class: "note" }, "");
  /** @type {{live: Live, panels: Panel[]} | null} */
  let state = null;
  /** @type {number | null} */
  let chosen = null;
  /** @type {((at: number | null) => void)[]} */
  let tellers = [];

  const tell = () => {
    if (!state) return;
    const length = lengthS(state.live);
    tellers.forEach((teller) => teller(chosen));
    shown.textContent = chosen === null ? "Latest values." : `At ${words.clock(chosen, length)}: ${words.timeOfDay(1000 * (beginS(state.live) + chosen))}.`;
    moment.setAttribute("aria-valuetext", `${words.clock(chosen ?? length, length)}: ${state.panels.map((panel) => toldOf(panel, chosen)).join("; ")}`);
  };
  const choose = (/** @type {number | null} */ at) => {
    chosen = at;
    if (at !== null) moment.value = String(at);
    tell();
  };
  const redraw = fitted(charts, (width) => {
    if (!state) return;
    const drawn = state.panels.map((panel, i) => drawnPanel(panel, /** @type {any} */ (state).live, width, i + 1 === state?.panels.length));
    tellers = drawn.map((one) => one.tell);
    charts.replaceChildren(...drawn.map((one) => one.element));
    tell();
  });
  charts.addEventListener("pointermove", (event) => {
    if (!state) return;
    const { left, width } = charts.getBoundingClientRect();
    const at = linear([0, lengthS(state.live)], room(width, HEIGHT).x).back(event.clientX - left);
    choose(Math.min(lengthS(state.live), Math.max(0, at)));
  });
  charts.addEventListener("pointerleave", () => choose(null));
  moment.addEventListener("input", () => choose(Number(moment.value)));
  moment.addEventListener("blur", () => choose(null));

  return {
    element: h("div", { class: "timeline" }, charts, moment, shown),
    show(live) {
      state = { live, panels: panelsOf(live) };
      moment.max = String(Math.floor(lengthS(live)));
      if (chosen === null) moment.value = moment.max;
      moment.hidden = state.panels.length === 0;
      redraw();
    },
  };
}

/**
 * A panel's values in words, for a moment or the latest.
 * @param {Panel} panel
 * @param {number | null} at
 */
const toldOf = (panel, at) => `${panel.title}: ${panel.series.map((one, i) => `${one.name} ${valuesAt(panel, at)[i] ?? words.NOTHING}`).join(", ")}`;

/**
 * @param {Panel} panel
 * @param {number | null} at null: the latest moment that is known
 */
function valuesAt(panel, at) {
  const moment = at ?? Math.max(...panel.series.flatMap(({ values, fresh }) => [values.at(-1)?.[0] ?? 0, fresh?.at(-1)?.[0] ?? 0]));
  return panel.series.map((one) => {
    const value = valueAt(one, moment, panel.binS);
    return value === null ? null : panel.text(value);
  });
}

/**
 * @param {Panel} panel
 * @param {Live} live
 * @param {number} width
 * @param {boolean} last it has the clock's labels
 */
function drawnPanel(panel, live, width, last) {
  const length = lengthS(live);
  const height = last ? HEIGHT + 18 : HEIGHT;
  const space = room(width, height, last);
  const x = { ...linear([0, length], space.x), ticks: timeTicks(length, Math.max(2, Math.floor(width / 90))) };
  const y = verticalOf(panel, space.y);
  const { drawing, marks } = frame({
    width, height, x, y, label: `${panel.title}. Latest: ${toldOf(panel, null)}`, yTitle: panel.title,
    yText: (value) => (panel.kind === "log" ? words.latency(value) : words.number(value)),
    xText: last ? (value) => words.clock(value, length) : null,
  });
  marks.append(...bands(live, x, space, panel.id === "throughput"));
  marks.append(...(panel.kind === "stacked" ? blocks(panel, x, y) : lines(panel, x, y)));
  marks.append(...panel.limits.map((limit) => levelLine(space.x, y.at(limit.value), limit.label)));
  const cursor = svg("line", { y1: space.y[1], y2: space.y[0], class: "cursor", visibility: "hidden" });
  drawing.append(cursor);
  const keys = legend(panel.series);
  return {
    element: h("div", { class: "panel", id: `panel-${panel.id}` }, drawing, keys.element),
    tell(/** @type {number | null} */ at) {
      keys.tell(valuesAt(panel, at));
      cursor.setAttribute("visibility", at === null ? "hidden" : "visible");
      if (at !== null) ["x1", "x2"].forEach((name) => cursor.setAttribute(name, x.at(at).toFixed(1)));
    },
  };
}

/**
 * @param {Panel} panel
 * @param {[number, number]} ends
 */
function verticalOf(panel, ends) {
  if (panel.kind === "percent") return linear([0, 100], ends, 4);
  if (panel.kind === "log") {
    const values = panel.series.flatMap(({ values: known, fresh }) => [...known, ...(fresh ?? [])].map(([, value]) => value));
    return logarithmic(around(values) ?? [1, 10], ends, 5);
  }
  return linear(fromZero([mostOf(panel.series, panel.kind === "stacked"), ...panel.limits.map(({ value }) => value)], 1.12), ends, 4);
}

/**
 * The measured windows; numbered in the first panel, where there is room.
 * @param {Live} live
 * @param {import("./scales.js").Scale} x
 * @param {{y: [number, number]}} space
 * @param {boolean} numbered
 */
function bands(live, x, { y: [bottom, top] }, numbered) {
  let free = LEFT;
  const length = lengthS(live);
  return windowsOf(live).filter(({ from }) => from < length).flatMap(({ from, to, name }) => {
    const [left, right] = [x.at(from), x.at(Math.min(to, length))];
    const band = svg("rect", { x: left, width: Math.max(0.5, right - left), y: top, height: bottom - top, class: "band" });
    if (!numbered || (left + right) / 2 < free) return [band];
    free = (left + right) / 2 + 10 + 7 * name.length;
    return [band, svg("text", { x: (left + right) / 2, y: top + 11, class: "axis middle" }, name)];
  });
}

/** @param {Panel} panel @param {import("./scales.js").Scale} x @param {import("./scales.js").Scale} y */
function blocks(panel, x, y) {
  const layers = [stacked(panel.series, "values"), stacked(panel.series, "fresh")];
  return panel.series.flatMap(({ color }, i) => [
    svg("path", { d: blockPath(layers[0][i], panel.binS, x, y), fill: color, class: "blocks" }),
    svg("path", { d: blockPath(layers[1][i], 1, x, y), fill: color, class: "blocks provisional" }),
  ]);
}

/** @param {Panel} panel @param {import("./scales.js").Scale} x @param {import("./scales.js").Scale} y */
function lines(panel, x, y) {
  const middle = (/** @type {import("./chart.js").Point[]} */ points, /** @type {number} */ bin) =>
    points.map(([at, value]) => /** @type {import("./chart.js").Point} */ ([at + bin / 2, panel.kind === "log" && !value ? null : value]));
  return panel.series.flatMap(({ color, values, fresh = [] }) => [
    svg("path", { d: linePath(middle(values, panel.binS), x, y, GAP * panel.binS), stroke: color, class: "stroke" }),
    svg("path", { d: linePath(middle(fresh, 1), x, y, GAP), stroke: color, class: "stroke provisional" }),
  ]);
}
