/** An experiment: its matrix as a heat map that leads to its runs, and what it decides. */
import { h, place, table } from "./dom.js";
import { hasEnded } from "./live.js";
import { cellsOf, classOf, matrixOf } from "./matrix.js";
import { href } from "./routes.js";
import { stateTag, stateWords, verdictWords } from "./run_words.js";
import * as words from "./words.js";

/**
 * @param {import("./main.js").View} view
 */
export async function showExperiment({ main, service, signal, id }) {
  const [head, body] = [h("header", {}), h("div", {})];
  const shows = [place(head, heading), place(body, whole)];
  main.append(head, body);
  await service.keep(async () => {
    const detail = await service.get(`/experiments/${encodeURIComponent(id ?? "")}`, signal);
    document.title = `${detail.record.name} · Plimsoll`;
    shows.forEach((show) => show(detail));
    return !hasEnded(detail.record.state) || (detail.result === null && !detail.record.failure);
  }, signal);
}

/** @param {any} detail */
function heading({ record, cells, result }) {
  const ended = cells.filter((/** @type {any} */ cell) => cell.state !== null && hasEnded(cell.state)).length;
  return [
    h("p", { class: "kicker" }, "An experiment ", stateTag(record.state, isDecided(result))),
    h("h1", {}, record.name),
    h("p", { class: "under" }, `${ended} of ${words.plural(record.cells, "run")} ended · ${words.moment(record.submitted_at)} · ${record.team} · ${record.experiment_id}`),
    h("progress", { max: record.cells, value: ended, "aria-label": "Runs that have ended", hidden: hasEnded(record.state) }),
  ];
}

/** Whether anything was decided; true while nothing can be yet. @param {any} result */
function isDecided(result) {
  if (result === null) return true;
  if (result.boundary) return result.boundary.outcome === "decided";
  return !result.decisions.length || result.decisions.some((/** @type {any} */ one) => ["chosen", "alike", "only one"].includes(one.outcome));
}

/** @param {any} detail */
function whole({ record, cells, result }) {
  const failure = record.failure && h("p", { class: "sentence" }, `${words.capitalized(record.failure.cause)}.`);
  return [
    (result?.answer || failure) && h("section", { class: "answer", "aria-label": "The answer" }, result?.answer && h("p", { class: "sentence" }, result.answer), failure),
    h("h2", {}, "Every run"),
    heat(cellsOf(cells, result)),
    h("p", { class: "note" }, "Maximum sustainable throughput, in operations per second; a stronger color means more. Each cell links to its run."),
    ...(result ? decided(result) : []),
  ];
}

/** @param {import("./matrix.js").Cell[]} cells */
function heat(cells) {
  const { axis, columns, rows } = matrixOf(cells);
  const figures = cells.flatMap(({ figure }) => (figure === null ? [] : [figure]));
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": "Every run", tabindex: 0 },
    h("table", { class: "heat" },
      h("thead", {}, h("tr", {}, h("td", {}), columns.map((column) => h("th", { scope: "col" }, h("span", { class: "note block" }, axis), column)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.name), row.cells.map((cell) => heatCell(cell, figures)))))),
  );
}

/**
 * @param {import("./matrix.js").Cell | null} cell
 * @param {number[]} figures
 */
function heatCell(cell, figures) {
  if (cell === null) return h("td", {}, words.NOTHING);
  const text = cell.figure === null ? words.NOTHING : words.bounded(words.rate(cell.figure), cell.bound);
  const under = cell.verdict ? verdictWords(cell.verdict) : stateWords(cell.state);
  return h(
    "td",
    { class: cell.figure === null ? "" : `heat-${classOf(cell.figure, figures)}` },
    cell.state === null ? text : h("a", { href: href(`/runs/${cell.run_id}`), "aria-label": `${cell.name}: ${text} ops/s, ${under}` }, text),
    h("span", { class: "block small" }, under),
  );
}

/** @param {any} result */
function decided(result) {
  const figures = result.gains.map((/** @type {any} */ gain) => [
    gain.question, `${gain.lower} to ${gain.higher}`, gain.ratio === null ? words.NOTHING : h("b", {}, words.ratio(gain.ratio)),
    gain.low === null ? words.NOTHING : `${words.ratio(gain.low)} to ${words.ratio(gain.high)}`, gain.outcome, gain.sentence,
  ]);
  const decisions = result.decisions.map((/** @type {any} */ one) => [one.question, one.sentence]);
  return [
    ...(result.boundary ? sought(result.boundary) : [h("h2", {}, "What to buy"), table("What to buy", ["Question", "Decision"], decisions, "words")]),
    ...(figures.length ? [h("h2", {}, "What each step up in IOPS gained"), table("Gains", ["Question", "Step", "Ratio", "95 % interval", "Gain", "In words"], figures, "words")] : []),
    ...result.warnings.map((/** @type {string} */ warning) => h("p", { class: "note" }, warning)),
  ];
}

/** A search for the boundary: what was measured, and what is predicted alone. @param {any} boundary */
function sought({ cells }) {
  const rows = cells.map((/** @type {any} */ { name, status, measured_ops_per_second: figure, bound, predicted, why }) => [
    name, status, figure === null ? words.NOTHING : words.bounded(words.rate(figure), bound),
    predicted === null ? words.NOTHING : `~${words.rate(predicted.ops_per_second)} (${words.rate(predicted.low)} to ${words.rate(predicted.high)})`, why ?? "",
  ]);
  return [
    h("h2", {}, "Every cell, by price"),
    table("Every cell, by price", ["Cell", "", "Measured, ops/s", "Predicted, ops/s", ""], rows, "words"),
    h("p", { class: "note" }, "~ means predicted, not measured."),
  ];
}
