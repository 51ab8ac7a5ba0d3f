/**
 * What the pointer, a finger or the arrow keys are told of charts: of a mark its title, of a moment
 * of the run every series of the panel. The charts themselves are drawn by Plimsoll, and need none
 * of this. The report has this script in it, and the page in the browser loads it.
 *
 * @typedef {[string, string][]} Lines
 * @typedef {object} Series of a panel over time, or the rows of a heat map
 * @property {number} width_s
 * @property {number} digits
 * @property {number[]} [moments]
 * @property {Record<string, (number | null)[]>} series
 * @property {number | null} [rows]
 * @property {number} low_us
 * @property {number} high_us
 * @typedef {{length_s: number, hours: boolean, steps: [number, number, number, number][], panels: Record<string, Series>}} Moments
 * @typedef {Record<string, Moments>} Book by the chart's id
 */

/** @param {string} name */
const create = (name, text = "") => Object.assign(document.createElement(name), { textContent: text });

const tip = Object.assign(create("dl"), { id: "tip", hidden: true });
tip.setAttribute("role", "status");
document.body.append(tip);

/** @type {Book} */
const book = {};
/** @type {WeakMap<Element, Lines>} */
const told = new WeakMap();
/** @type {WeakMap<Element, number>} at which of its marks or moments the arrow keys are */
const stops = new WeakMap();
/** @type {{x: number, y: number} | null} where the pointer reads */
let pointer = null;

/** @param {Element} plot */
const chartOf = (plot) => /** @type {HTMLElement} */ (plot.closest("[data-chart]"));
/** @param {Element} plot */
const momentsOf = (plot) => book[chartOf(plot).dataset.chart ?? ""];
/** @param {Element} plot */
const panelOf = (plot) => momentsOf(plot)?.panels[/** @type {SVGElement} */ (plot).dataset.panel ?? ""];

/** @param {number} number */
const two = (number) => String(Math.floor(number)).padStart(2, "0");
/** @param {number} t @param {boolean} hours */
const clock = (t, hours) =>
  hours
    ? `${Math.floor(t / 3600)}:${two((t % 3600) / 60)}:${two(t % 60)}`
    : `${Math.floor(t / 60)}:${two(t % 60)}`;

/** @param {Moments["steps"]} steps @param {number} t */
const stepAt = (steps, t) => {
  const step = steps.find(([, start, , end]) => start <= t && t < end);
  if (!step) return "–";
  return t < step[2] ? `${step[0]}, warm-up` : String(step[0]);
};

/** @param {Moments} chart @param {number} t @returns {Lines} */
const when = (chart, t) => [
  [`at, ${chart.hours ? "h:min:s" : "min:s"}`, clock(t, chart.hours)],
  ["step", stepAt(chart.steps, t)],
];

/**
 * All series at a moment; null where nothing was measured.
 * @param {Moments} chart
 * @param {Series} panel
 * @param {number} t
 * @returns {Lines | null}
 */
const moment = (chart, { moments = [], width_s: width, digits, series }, t) => {
  const next = moments.findIndex((start) => start > t);
  const i = next < 0 ? moments.length - 1 : next - 1;
  if (i < 0 || t >= moments[i] + width) return null;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const known = Object.entries(series).flatMap(([title, values]) => {
    const value = values[i];
    return value === null ? [] : [/** @type {[string, string]} */ ([title, value.toLocaleString("en-US", format)])];
  });
  return [...when(chart, moments[i]), ...known];
};

/**
 * The row of a heat map at a share of its height, from the top.
 * @param {Series} panel
 * @param {number} share
 * @returns {Lines}
 */
const row = ({ rows, low_us: low, high_us: high }, share) => {
  const octave = rows ?? 1;
  const up = Math.ceil(octave * Math.log2(low * (high / low) ** (1 - share)));
  const whole = (/** @type {number} */ us) => Math.round(us).toLocaleString("en-US");
  return [
    ["over, µs", whole(2 ** ((up - 1) / octave))],
    ["up to, µs", whole(2 ** (up / octave))],
  ];
};

/** @param {Lines} lines @param {number} x @param {number} y */
const show = (lines, x, y) => {
  tip.replaceChildren(...lines.flatMap(([name, text]) => [create("dt", name), create("dd", text)]));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 16 + width < innerWidth ? x + 16 : x - 16 - width;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 16, innerHeight - height - 4))}px`;
};

const unmark = () => document.querySelectorAll(".hair").forEach((hair) => hair.remove());

const hide = () => {
  tip.hidden = true;
  pointer = null;
  unmark();
};

/** One moment, marked in all panels of its chart. @param {Element} chart @param {number} share */
const mark = (chart, share) => {
  unmark();
  for (const plot of chart.querySelectorAll("[data-panel]")) {
    const hair = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const place = `${100 * share}%`;
    const attributes = { class: "hair", x1: place, x2: place, y2: plot.getAttribute("height") ?? "" };
    for (const [name, value] of Object.entries(attributes)) hair.setAttribute(name, value);
    plot.append(hair);
  }
};

/** @param {Element} plot @param {Element} target @param {number} x @param {number} y */
const at = (plot, target, x, y) => {
  const [chart, panel] = [momentsOf(plot), panelOf(plot)];
  const box = plot.getBoundingClientRect();
  const share = (x - box.left) / box.width;
  const t = share * chart?.length_s;
  const lines = told.get(target.closest("[data-told]") ?? target) ?? null;
  const within = panel && share >= 0 && share < 1;
  if (within) mark(chartOf(plot), share);
  const all = within && panel.series ? moment(chart, panel, t) : lines;
  if (!all) tip.hidden = true;
  else show(within && panel.rows ? [...when(chart, t), ...row(panel, (y - box.top) / box.height), ...all] : all, x, y);
};

/** @param {EventTarget | null} target @param {number} x @param {number} y */
const point = (target, x, y) => {
  const element = target instanceof Element ? target : null;
  const plot = element?.closest("[data-panel]");
  if (!element || !plot) return hide();
  pointer = { x, y };
  at(plot, element, x, y);
};

/** @param {PointerEvent} event */
const pointed = ({ target, clientX, clientY }) => point(target, clientX, clientY);
document.addEventListener("pointermove", pointed);
document.addEventListener("pointerdown", pointed);
document.addEventListener("scroll", hide, { passive: true });

/**
 * The arrow keys go from mark to mark, or from moment to moment.
 * @param {SVGElement} plot
 * @param {number} by
 */
const step = (plot, by) => {
  const [chart, panel] = [momentsOf(plot), panelOf(plot)];
  const marks = [...plot.querySelectorAll("[data-told]")];
  const moments = panel?.moments;
  const last = (moments?.length ?? (panel?.rows ? 0 : marks.length)) - 1;
  if (last < 0) return;
  const stop = Math.min(last, Math.max(0, (stops.get(plot) ?? -1) + by));
  stops.set(plot, stop);
  const box = plot.getBoundingClientRect();
  if (moments) {
    const middle = moments[stop] + panel.width_s / 2;
    at(plot, plot, box.left + (middle / chart.length_s) * box.width, box.top);
  } else {
    const spot = marks[stop].getBoundingClientRect();
    at(plot, marks[stop], spot.left + spot.width / 2, spot.top + spot.height / 2);
  }
};

/**
 * Let the charts beneath an element be read.
 * @param {Element} root
 * @param {Book} moments of the charts over time among them
 */
export function readCharts(root, moments) {
  Object.assign(book, moments);
  // titles are what browsers show by themselves: here they are shown at once, and on a telephone
  for (const title of root.querySelectorAll("[data-panel] title")) {
    const marked = /** @type {Element} */ (title.parentElement);
    const lines = (title.textContent ?? "").split("\n").map((line) => {
      const colon = line.indexOf(": ");
      return /** @type {[string, string]} */ ([line.slice(0, colon), line.slice(colon + 2)]);
    });
    marked.setAttribute("data-told", "");
    told.set(marked, lines);
    title.remove();
  }
  for (const plot of /** @type {NodeListOf<SVGElement>} */ (root.querySelectorAll("[data-panel]"))) {
    plot.setAttribute("tabindex", "0");
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
      event.preventDefault();
      pointer = null;
      step(plot, event.key === "ArrowRight" ? 1 : -1);
    });
  }
}

/**
 * Put charts in the place of those that an element holds; who reads there goes on reading.
 * @param {Element} element
 * @param {Node[]} charts
 * @param {Book} moments
 */
export function replaceCharts(element, charts, moments) {
  const before = element.contains(document.activeElement) ? /** @type {SVGElement} */ (document.activeElement) : null;
  const [panel, stop] = [before?.dataset.panel, before ? stops.get(before) : undefined];
  const [here, reading] = [pointer, !tip.hidden];
  element.replaceChildren(...charts);
  readCharts(element, moments);
  const after = panel === undefined ? null : /** @type {SVGElement | null} */ (element.querySelector(`[data-panel="${CSS.escape(panel)}"]`));
  after?.focus({ preventScroll: true });
  if (after && stop !== undefined) stops.set(after, stop);
  if (!reading) return;
  if (here) point(document.elementFromPoint(here.x, here.y), here.x, here.y);
  else if (after && stop !== undefined) step(after, 0);
}
