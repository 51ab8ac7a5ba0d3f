/** Runs laid over each other; without any, where to find what can be compared. */
import { h, table } from "./dom.js";
import { drawing } from "./drawing.js";
import { href } from "./routes.js";
import { intervalWords, stateTag, verdictWords } from "./run_words.js";
import * as words from "./words.js";

/**
 * @param {import("./main.js").View} view
 */
export async function showCompare({ main, service, signal, query }) {
  const ids = query.getAll("run");
  main.append(h("h1", {}, "Compare"));
  if (ids.length < 2) return showWhatThereIs(main, service, signal);
  const comparison = await service.get(`/comparisons?runs=${ids.map(encodeURIComponent).join(",")}`, signal);
  main.append(
    h("section", { class: "answer", "aria-label": "The answer" },
      comparison.sentences.map((/** @type {string} */ sentence) => h("p", { class: "sentence" }, sentence)),
      !comparison.sentences.length && h("p", { class: "sentence" }, "No two of these runs have figures and the same question, so there is no ratio."),
      comparison.warnings.map((/** @type {string} */ warning) => h("p", { class: "note" }, warning))),
    h("h2", {}, "Capacities"),
    capacities(comparison.runs),
    h("p", { class: "note" }, "Ratios: geometric means of the repetitions at each run's capacity; 95 % interval by Welch's t on their logarithms. It covers what scatters between repetitions on these targets, not how targets of one kind differ."),
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
    return h("figure", {}, h("h3", {}, `Latency of ${operation} over throughput`), chart.element, h("figcaption", {}, "Medians where a load was repeated. Dotted: the limits. Upright: the answers."));
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
 * @param {HTMLElement} main
 * @param {import("./service.js").Service} service
 * @param {AbortSignal} signal
 */
async function showWhatThereIs(main, service, signal) {
  main.append(h("p", {}, "Choose two to ten runs in the ", h("a", { href: href("/runs") }, "table of runs"), ", or open an experiment or a check."));
  const [{ experiments }, { schedules }] = await Promise.all([service.get("/experiments?limit=50", signal), service.get("/schedules", signal)]);
  main.append(
    h("h2", {}, "Experiments"),
    experiments.length ? table("Experiments", ["Experiment", "State", "Runs", "Submitted"], experiments.map((/** @type {any} */ one) => [
      h("a", { href: href(`/experiments/${one.experiment_id}`) }, one.name), stateTag(one.state), one.cells, words.moment(one.submitted_at)]), "words")
      : h("p", { class: "note" }, "None yet."),
    h("h2", {}, "Checks"),
    schedules.length ? table("Checks", ["Check", "When", "Next", "Why"], schedules.map((/** @type {any} */ one) => [
      h("a", { href: href(`/checks/${one.name}`) }, one.name), one.schedule, one.enabled ? words.moment(one.next_at) : "disabled", one.description || words.NOTHING]), "words")
      : h("p", { class: "note" }, "None yet."),
  );
}
