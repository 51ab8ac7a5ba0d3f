/** Runs laid over each other; without any, lists to choose them from. */
import { h, table } from "./dom.js";
import { drawing } from "./drawing.js";
import { href } from "./routes.js";
import { empty } from "./view_lists.js";
import { figureWords, intervalWords, verdictWords } from "./run_words.js";
import * as words from "./words.js";

/**
 * @param {import("./main.js").View} view
 */
export async function showCompare({ main, service, signal, query }) {
  const ids = query.getAll("run");
  main.append(h("h1", {}, "Compare"));
  if (new Set(ids).size < 2) return choose(main, service, signal, ids[0]);
  const comparison = await service.get(`/comparisons?runs=${ids.map(encodeURIComponent).join(",")}`, signal);
  main.append(
    h("section", { class: "answer", "aria-label": "The answer" },
      comparison.sentences.map((/** @type {string} */ sentence) => h("p", { class: "sentence" }, sentence)),
      !comparison.sentences.length && h("p", { class: "sentence" }, "No two of these runs have figures and the same question, so there is no ratio."),
      comparison.warnings.map((/** @type {string} */ warning) => h("p", { class: "note" }, warning))),
    h("div", { class: "bar" }, h("a", { class: "button quiet", href: href("/compare", [...ids].reverse().map((id) => ["run", id])) }, ids.length === 2 ? "Swap the two" : "Compare with the last"), h("a", { class: "button quiet", href: href("/compare") }, "Choose others")),
    h("h2", {}, "Capacities"),
    capacities(comparison.runs),
    h("p", { class: "note" }, "Ratios: geometric means of the repetitions at each run's capacity; 95 % interval by Welch's t on their logarithms. It covers repetitions on these targets; what a restart or another target changes is not in it."),
    h("h2", {}, "The curves"),
    ...curves(comparison, service, signal),
    ...equalLoads(comparison),
    ...differences(comparison),
  );
}

/** @param {any[]} runs */
function capacities(runs) {
  const titles = ["Run", "Verdict", "Throughput, ops/s", "95 % interval", "At", "Ratio", "Ratio's 95 % interval", "Limited by", "$ per million operations"];
  return table("Capacities", titles, runs.map((run) => [
    h("a", { href: href(`/runs/${run.run_id}`) }, run.label),
    verdictWords(run.verdict),
    run.figure_ops_per_second === null ? words.NOTHING : words.bounded(words.rate(run.figure_ops_per_second), run.bound),
    intervalWords(run.interval),
    run.load ?? words.NOTHING,
    ...ratioCells(run.ratio),
    run.limiting_resource ?? words.NOTHING,
    run.usd_per_million === null ? words.NOTHING : `$${run.usd_per_million.toPrecision(3)}`,
  ]), "words");
}

/** @param {any} ratio null: the first of those that ask the same */
function ratioCells(ratio) {
  if (ratio === null) return ["reference", words.NOTHING];
  const interval = ratio.low === null ? words.NOTHING : `${words.ratio(ratio.low)} to ${words.ratio(ratio.high)}`;
  return [h("b", {}, words.bounded(words.ratio(ratio.value), ratio.bound === "<" ? "<=" : ratio.bound)), interval];
}

/**
 * A chart for each operation, of the runs whose latency is the same statistic.
 * @param {any} comparison
 * @param {import("./service.js").Service} service
 * @param {AbortSignal} signal
 */
function curves({ curves: all, runs }, service, signal) {
  const ofRun = new Map(runs.map((/** @type {any} */ run) => [run.run_id, run]));
  const judged = all.filter((/** @type {any} */ curve) => curve.loads.length);
  const statistic = ofRun.get(judged[0]?.run_id)?.statistic ?? null;
  const same = judged.filter((/** @type {any} */ curve) => ofRun.get(curve.run_id).statistic === statistic);
  const others = judged.filter((/** @type {any} */ curve) => !same.includes(curve)).map((/** @type {any} */ curve) => ofRun.get(curve.run_id).label);
  const drawn = same.map((/** @type {any} */ curve) => {
    const { label: name, figure_ops_per_second: figure, bound, interval } = ofRun.get(curve.run_id);
    return { name, statistic, axis: curve.axis, loads: curve.loads, figure, bound, interval };
  });
  const operations = new Set(drawn.flatMap((/** @type {any} */ run) => run.loads.flatMap((/** @type {any} */ load) => Object.keys(load.latency_us))));
  const figures = [...operations].sort().map((operation) => {
    const chart = drawing(service, "curves", signal, "Nothing was measured.");
    chart.show({ operation, runs: drawn });
    return h("figure", {}, h("h3", {}, `Latency of ${operation} over throughput`), chart.element, h("figcaption", {}, "Medians where a load was repeated. Dotted: the limits. Vertical: the answers."));
  });
  if (!others.length) return figures;
  return [...figures, h("p", { class: "note" }, `Not drawn, since another percentile was judged: ${others.join(", ")}.`)];
}

/** @param {any} comparison */
function equalLoads({ equal_loads: equal, runs }) {
  if (!equal.length) return [];
  const titles = ["Load", "Operation", ...runs.map((/** @type {any} */ run) => run.label)];
  return [
    h("h2", {}, "Latency at equal load"),
    table("Latency at equal load", titles, equal.map((/** @type {any} */ one) => [one.load, `${one.operation} ${words.statistic(one.statistic)}`,
      ...one.latency_us.map((/** @type {number | null} */ us, /** @type {number} */ i) => `${words.latency(us)} at ${words.rate(one.throughput_ops_per_second[i])} ops/s`)]), "words"),
  ];
}

/** @param {any} comparison */
function differences({ differences: all, runs }) {
  if (!all.length) return [];
  return [
    h("h2", {}, "Differences between the requests"),
    table("Differences between the requests", ["Field", ...runs.map((/** @type {any} */ run) => run.label)], all.map((/** @type {any} */ one) => [one.field, ...one.values.map((/** @type {string | null} */ value) => value ?? words.NOTHING)]), "words"),
  ];
}

/**
 * Two lists of the runs that have a figure, and what compares those that are chosen there.
 * @param {HTMLElement} main
 * @param {import("./service.js").Service} service
 * @param {AbortSignal} signal
 * @param {string | undefined} first that was chosen already
 */
async function choose(main, service, signal, first) {
  const { runs } = await service.get("/runs?limit=100", signal);
  const measured = runs.filter((/** @type {any} */ run) => run.capacity_ops_per_second !== null);
  if (measured.length < 2) {
    main.append(empty(`There ${measured.length ? "is one run" : "is no run"} with a figure yet, and a comparison needs two. Start another`, service));
    return;
  }
  const lists = ["First", "Second"].map((name, i) => h("select", { id: `compare-${i}`, "aria-label": `${name} run` },
    measured.map((/** @type {any} */ run, /** @type {number} */ at) => h("option", { value: run.run_id, selected: first ? (i === 0) === (run.run_id === first) : at === i },
      `${run.name}, ${figureWords(run)} ops/s, ${words.moment(run.submitted_at)}`))));
  main.append(
    h("p", {}, "Choose two runs here, or up to ten in the ", h("a", { href: href("/runs") }, "table of runs"), "."),
    h("form", { class: "bar", "aria-label": "Runs to compare", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      location.hash = href("/compare", lists.map((list) => ["run", list.value]));
    } }, lists, h("button", {}, "Compare")),
  );
}
