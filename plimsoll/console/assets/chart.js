/**
 * The parts of every chart: a frame with its axes, lines, areas, marks; drawn as SVG in the width
 * that is there. Colors are the report's CSS variables, so that light and dark need no redrawing.
 *
 * @typedef {import("./scales.js").Scale} Scale
 * @typedef {[number, number | null]} Point an x and its y; null: not known, which parts the line
 */
import { h, svg } from "./dom.js";

export const LEFT = 58; // of every left axis, so that stacked charts share their clock
export const RIGHT = 14;
const TOP = 26;
const BOTTOM = 24;

/** The colors of series, in order; they repeat after six. @param {number} i */
export const color = (i) => `var(--series-${(i % 6) + 1})`;

/**
 * The pixels between which a chart's axes lie.
 * @param {number} width
 * @param {number} height
 * @param {boolean} [labeled] whether there are labels beneath
 * @returns {{x: [number, number], y: [number, number]}}
 */
export const room = (width, height, labeled = true) => ({
  x: [LEFT, Math.max(LEFT + 40, width - RIGHT)],
  y: [height - (labeled ? BOTTOM : 6), TOP],
});

/**
 * A chart's axes, and the group that its marks go into.
 * @param {object} given
 * @param {number} given.width
 * @param {number} given.height
 * @param {Scale} given.x
 * @param {Scale} given.y
 * @param {string} given.label what the chart says, for those who do not see it
 * @param {string} given.yTitle
 * @param {string} [given.xTitle]
 * @param {(value: number) => string} given.yText
 * @param {((value: number) => string) | null} given.xText null: no labels beneath
 */
export function frame({ width, height, x, y, label, yTitle, xTitle, yText, xText }) {
  const { x: [left, right], y: [bottom, top] } = room(width, height, xText !== null);
  const marks = svg("g", {});
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "drawing" },
    svg("text", { x: 0, y: 11, class: "axis" }, yTitle),
    y.ticks.map((tick) => svg("line", { x1: left, x2: right, y1: y.at(tick), y2: y.at(tick), class: "gridline" })),
    y.ticks.map((tick) => svg("text", { x: left - 7, y: y.at(tick) + 4, class: "axis end" }, yText(tick))),
    svg("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "ruleline" }),
    xText && sparse(x, xText).map((tick) => svg("text", { x: x.at(tick), y: bottom + 15, class: "axis middle" }, xText(tick))),
    xTitle && svg("text", { x: right, y: top - 6, class: "axis end" }, `${xTitle} →`),
    marks,
  );
  return { drawing, marks };
}

/**
 * The ticks whose labels have room beside one another.
 * @param {Scale} x
 * @param {(value: number) => string} text
 */
function sparse(x, text) {
  const longest = Math.max(1, ...x.ticks.map((tick) => text(tick).length));
  const apart = x.ticks.length > 1 ? Math.abs(x.at(x.ticks[1]) - x.at(x.ticks[0])) : Infinity;
  const every = Math.max(1, Math.ceil((7 * longest + 8) / apart));
  return x.ticks.filter((_, i) => i % every === 0);
}

/**
 * A line through points, parted where a value is missing or the next lies further than `gap`; a
 * point by itself is a dot.
 * @param {Point[]} points
 * @param {Scale} x
 * @param {Scale} y
 * @param {number} [gap] on the x axis
 * @returns {string} a path's `d`
 */
export function linePath(points, x, y, gap = Infinity) {
  let path = "";
  let last = NaN;
  for (const [at, value] of points) {
    if (value === null) {
      last = NaN;
      continue;
    }
    const place = `${x.at(at).toFixed(1)},${y.at(value).toFixed(1)}`;
    path += at - last <= gap ? `L${place}` : `M${place}l0,0`;
    last = at;
  }
  return path;
}

/**
 * Blocks from one value to another, each as wide as its bin.
 * @param {[number, number, number][]} blocks x, lower and upper value
 * @param {number} width of a bin, on the x axis
 * @param {Scale} x
 * @param {Scale} y
 */
export function blockPath(blocks, width, x, y) {
  return blocks
    .map(([at, low, high]) => {
      const [left, right] = [x.at(at).toFixed(1), x.at(at + width).toFixed(1)];
      return `M${left},${y.at(low).toFixed(1)}V${y.at(high).toFixed(1)}H${right}V${y.at(low).toFixed(1)}Z`;
    })
    .join("");
}

/**
 * A level line with its name at its left end, or its right one.
 * @param {[number, number]} ends in pixels
 * @param {number} y in pixels
 * @param {string} label
 * @param {string} [stroke]
 * @param {boolean} [right]
 */
export function levelLine([from, to], y, label, stroke = "var(--ink)", right = false) {
  return svg(
    "g",
    {},
    svg("line", { x1: from, x2: to, y1: y, y2: y, stroke, class: "limit" }),
    svg("text", { x: right ? to - 4 : from + 4, y: y - 4, class: right ? "note-text end" : "note-text" }, label),
  );
}

const SHAPES = {
  passed: "M-4.6,0a4.6,4.6 0 1,0 9.2,0a4.6,4.6 0 1,0 -9.2,0Z",
  failed: "M-5,-5L5,5M-5,5L5,-5",
  undecided: "M0,-5.5L5.5,4.5H-5.5Z",
};

/** @typedef {keyof SHAPES} Outcome */

/**
 * The mark of a load: its shape says what became of it, as in the report.
 * @param {Outcome} outcome
 * @param {number} x in pixels
 * @param {number} y
 * @param {string} stroke
 * @param {string} told beside the pointer
 */
export function mark(outcome, x, y, stroke, told) {
  return svg(
    "path",
    { d: SHAPES[outcome], transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`, stroke, fill: outcome === "passed" ? stroke : "none", class: "mark" },
    svg("title", {}, told),
  );
}

/**
 * What the colors and shapes mean; each value can be told beside its name.
 * @param {{name: string, color?: string, outcome?: Outcome, dash?: boolean}[]} entries
 * @returns {{element: HTMLElement, tell: (values: (string | null)[]) => void}}
 */
export function legend(entries) {
  const values = entries.map(() => h("b", {}));
  const element = h("ul", { class: "legend" }, entries.map((entry, i) => h("li", {}, key(entry), entry.name, " ", values[i])));
  return { element, tell: (told) => values.forEach((value, i) => (value.textContent = told[i] ?? "")) };
}

/** @param {{color?: string, outcome?: Outcome, dash?: boolean}} entry */
function key({ color: stroke = "var(--muted)", outcome, dash }) {
  const shape = outcome
    ? svg("path", { d: SHAPES[outcome], transform: "translate(8,7)", stroke, fill: outcome === "passed" ? stroke : "none", class: "mark" })
    : svg("line", { x1: 0, x2: 16, y1: 7, y2: 7, stroke, class: dash ? "limit" : "stroke" });
  return svg("svg", { width: 16, height: 14, viewBox: "0 0 16 14", "aria-hidden": "true" }, shape);
}

/**
 * Draw again whenever the width of an element changes.
 * @param {HTMLElement} element
 * @param {(width: number) => void} draw
 * @returns {() => void} draws at once
 */
export function fitted(element, draw) {
  let width = 0;
  const redraw = () => width && draw(width);
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    redraw();
  }).observe(element);
  return redraw;
}
