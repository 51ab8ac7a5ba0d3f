/** What a request would take, item by item. */
import { h, table } from "./dom.js";
import * as words from "./words.js";

const HERE = "this machine";
const BETWEEN_STEPS_S = 3; // as plimsoll/console/outlook.py estimates the time left

/**
 * @param {any} quote of a run or of an experiment; null: it cannot be quoted as it stands
 * @param {string} where
 * @param {number | null} stepS how long a step of the run is, in seconds; null: it is no run
 */
export function quoteSection(quote, where, stepS) {
  if (quote === null) return [h("h2", {}, "Time and cost"), h("p", { class: "note" }, "No quote: the request has errors.")];
  const { time_s: time, usd, steps, missing, notes, budget_usd: budget } = quote;
  return [
    h("h2", {}, "Time and cost"),
    ...(where === HERE && stepS !== null && steps ? timeHere(steps.expected, stepS) : []),
    h("p", { class: "figure" }, h("span", { class: "number" }, words.duration(round(time.expected))), where === HERE && h("span", { class: "unit" }, "on AWS")),
    h("p", { class: "note" }, `${words.duration(round(time.least))} at least, ${words.duration(round(time.most))} at most${steps ? `; about ${words.plural(Math.round(steps.expected), "step")}` : ""}${quote.cells ? `; ${words.plural(quote.cells.length, "run")}, ${quote.at_once} at once` : ""}.`),
    h("p", { class: "figure" }, h("span", { class: "number" }, usd ? words.usd(usd.expected) : words.NOTHING), where === HERE && usd && h("span", { class: "unit" }, "on AWS")),
    h("p", { class: "note" }, moneyWords(usd, missing, budget, where)),
    quote.phases && table("Time by phase", ["Phase", "Expected", "At most", "Assumed"], quote.phases.map((/** @type {any} */ phase) => [phase.name, words.duration(round(phase.expected_s)), words.duration(round(phase.most_s)), phase.assumption]), "words"),
    quote.lines?.length > 0 && table("Money by item", ["Item", "Expected", "At most"], quote.lines.map((/** @type {any} */ line) => [line.what, words.usd(line.usd?.expected), words.usd(line.usd?.most)]), "words"),
    quote.cells && table("Each run", ["Run", "Time", "Money"], quote.cells.map((/** @type {any} */ cell) => [cell.name, words.duration(round(cell.quote.time_s.expected)), words.usd(cell.quote.usd?.expected)]), "words"),
    ...notes.map((/** @type {string} */ note) => h("p", { class: "note" }, note)),
  ];
}

/** On one machine a database is there within seconds: what takes its time is the load. @param {number} steps @param {number} stepS */
function timeHere(steps, stepS) {
  return [
    h("p", { class: "figure" }, h("span", { class: "number" }, words.duration(Math.round(steps * (stepS + BETWEEN_STEPS_S)))), h("span", { class: "unit" }, "of load here")),
    h("p", { class: "note" }, `About ${words.plural(Math.round(steps), "step")} of ${words.duration(stepS)}; creating the database and loading its rows are extra.`),
  ];
}

/** @param {number} seconds */
const round = (seconds) => (seconds < 60 ? Math.round(seconds) : seconds);

/**
 * @param {any} usd
 * @param {string[]} missing
 * @param {number | null} budget
 * @param {string} where
 */
function moneyWords(usd, missing, budget, where) {
  const here = where === HERE ? "Nothing is spent here. On AWS, by list prices: " : "By list prices: ";
  const sum = usd ? `${words.usd(usd.least)} at least, ${words.usd(usd.most)} at most.` : `no sum, for these prices are missing: ${missing.join(", ")}.`;
  return here + sum + (budget ? ` Its budget is ${words.usd(budget)}.` : "");
}
