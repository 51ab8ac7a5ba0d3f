/** An answer to what to buy: what was measured is plain, what is predicted is dim and marked. */
import { copyControl } from "./copy.js";
import { h, table } from "./dom.js";
import { href } from "./routes.js";
import * as words from "./words.js";

const COLUMNS = ["Target", "$ a month", "Sustains, ops/s", "How sure", "Binds first", "Next bottleneck", "Latency under this load"];

/**
 * @param {any} sizes the service's answer; or `{refused}`: the sentence why there is none
 * @param {{of: any, all: () => void}} given of: the run; all: asks for every target
 */
export function sizesSection(sizes, { of, all }) {
  if (sizes.refused) return h("p", { class: "problem", role: "alert" }, sizes.refused);
  const { options, options_in_all: count, measured, cannot, assumptions } = sizes;
  const failing = measured.filter((/** @type {any} */ one) => one.outlook !== "carries");
  const command = h("code", {}, sizes.command);
  return [
    h("div", { class: "answer" }, sizes.warning && h("p", { class: "note" }, `Warning: ${sizes.warning}.`), h("p", { class: "sentence" }, `${sizes.sentence.startsWith("nothing") ? words.capitalized(sizes.sentence) : sizes.sentence}.`), h("p", { class: "note" }, askedWords(sizes))),
    options.length > 0 && ranking("Targets that carry the load, by price, then those that may", options, of),
    options.length > 0 && h("p", { class: "note" }, "~ means predicted, not measured. Carries: the low end of the interval suffices. May carry: only its high end does."),
    count > options.length && h("button", { type: "button", class: "quiet", onclick: all }, `Show all ${count} targets`),
    ...(failing.length ? [h("h2", {}, "Measured, and not known to carry the load"), ranking("Measured, and not known to carry the load", failing, of)] : []),
    ...(cannot.length ? [h("h2", {}, "Targets that do not carry the load"), h("ul", { class: "points" }, cannot.map((/** @type {any} */ one) => h("li", { class: "predicted" }, `~ ${one.sentence}`)))] : []),
    h("h2", {}, "Assumptions of the predictions"),
    h("ul", { class: "points" }, assumptions.map((/** @type {string} */ one) => h("li", {}, one))),
    h("section", { class: "card", "aria-label": "The same on a command line" },
      h("h2", {}, "The same on a command line"),
      h("pre", { class: "command", tabindex: 0, "aria-label": "Command" }, command),
      h("p", { class: "note" }, "Run it where the run's files are in plimsoll-results/. With --confirm it measures the answer on this machine."),
      copyControl(command).element),
  ];
}

/** @param {any} sizes */
function askedWords({ want_ops_per_second: want, required_ops_per_second: required, headroom, limits_us: limits, statistic, region, as_of: day }) {
  const each = Object.entries(limits).map(([name, us]) => `${name} ${words.latency(us)}`).join(", ");
  return `Asked: ${words.rate(want)} ops/s within ${words.statistic(statistic)} ${each}; a load line of ${words.rate(required)} leaves ${words.percent(headroom)}. List prices of ${region}${day ? ` (${day})` : ""}, a single zone, 730 hours a month.`;
}

/** @param {string} label @param {any[]} options @param {any} of */
function ranking(label, options, of) {
  return table(label, COLUMNS, options.map((option) => cells(option, of)), "words sizes");
}

/** @param {any} option @param {any} of */
function cells(option, of) {
  const measured = option.status === "measured";
  const mark = measured ? "" : "~";
  const kind = measured ? "measured" : "predicted";
  const latencies = Object.entries(option.latency_us ?? {}).map(([name, { mid }]) => `${name} ${mark}${words.latency(mid)}`);
  const told = [
    [option.target_words, ...(option.run ? [" (", h("a", { href: href(`/runs/${of.run_id}`) }, of.name), ")"] : [])],
    words.usdAMonth(option.usd_per_month),
    [h("b", {}, option.ops_per_second === null ? words.NOTHING : measured ? words.bounded(words.rate(option.ops_per_second), option.sure ? "=" : ">=") : `~${words.rate(option.ops_per_second)}`), option.low !== null && h("span", { class: "note block" }, `${words.rate(option.low)} to ${words.rate(option.high)}`)],
    measured ? `${option.outlook}, measured` : option.outlook,
    option.binds_words ?? words.NOTHING,
    option.next_words === null ? words.NOTHING : `${option.next_words} at ${mark}${words.rate(option.next.ops_per_second)}`,
    latencies.join(", ") || words.NOTHING,
  ];
  return told.map((text) => h("span", { class: kind }, text));
}
