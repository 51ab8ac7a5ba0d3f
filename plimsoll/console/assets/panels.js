/**
 * What a run's panels show, on one clock: seconds since it was submitted. Pure.
 *
 * @typedef {import("./live.js").Live} Live
 * @typedef {import("./chart.js").Point} Point
 * @typedef {object} Series
 * @property {string} name
 * @property {string} color
 * @property {Point[]} values by the beginnings of their bins
 * @property {Point[]} [fresh] of the step under way, provisional
 * @typedef {object} Panel
 * @property {string} id
 * @property {string} title
 * @property {"stacked" | "lines" | "log" | "percent"} kind
 * @property {Series[]} series
 * @property {{value: number, label: string}[]} limits
 * @property {number} binS
 * @property {(value: number | null) => string} text
 */
import { color } from "./chart.js";
import * as words from "./words.js";

const TARGET = [2, 4, 3]; // colors of the target's own figures, the most apart first
const NEAR = 4; // a limit so many times beyond what was measured would flatten it

/** When a run's clock begins, in seconds of the epoch. @param {Live} live */
export const beginS = (live) => Date.parse(live.run.submitted_at) / 1000;

/** How long its clock is by now, in seconds. @param {Live} live */
export const lengthS = (live) => Math.max(1, Date.parse(live.run.ended_at ?? live.at) / 1000 - beginS(live));

/**
 * The measured windows, as bands behind every panel.
 * @param {Live} live
 * @returns {{from: number, to: number, name: string}[]}
 */
export function windowsOf(live) {
  const begin = beginS(live);
  const planned = live.plan?.window_start_epoch_ms && !live.steps.some(({ step }) => step === live.plan.step) ? [live.plan] : [];
  return [...live.steps, ...planned]
    .filter((step) => step.window_start_epoch_ms !== null && step.window_end_epoch_ms !== null)
    .map((step) => ({
      from: step.window_start_epoch_ms / 1000 - begin,
      to: step.window_end_epoch_ms / 1000 - begin,
      name: String(step.step),
    }));
}

/**
 * All panels that have something to show.
 * @param {Live} live
 * @returns {Panel[]}
 */
export function panelsOf(live) {
  return [...operationPanels(live), ...targetPanels(live)].filter((panel) =>
    panel.series.some(({ values, fresh }) => [...values, ...(fresh ?? [])].some(([, value]) => value !== null)),
  );
}

/** @param {Live} live */
function operationPanels(live) {
  const fresh = (live.fresh ?? []).filter((second) => second.clients_told === second.clients); // a part of the clients is not the whole
  const names = [...new Set([...Object.keys(live.seconds.operations), ...fresh.flatMap((second) => Object.keys(second.operations))])].sort();
  const per = live.every_s > 1 ? `, every ${words.duration(live.every_s)}` : "";
  const begin = beginS(live);
  /** @param {string} column @param {(told: any) => number | null} provisional */
  const series = (column, provisional) =>
    names.map((name, i) => ({
      name,
      color: color(i),
      values: pairs(live.seconds.epoch_s, live.seconds.operations[name]?.[column], begin),
      fresh: fresh.map((second) => /** @type {Point} */ ([second.epoch_s - begin, second.operations[name] ? provisional(second.operations[name]) : null])),
    }));
  const failed = series("errors_per_second", (told) => told.errors);
  const anyFailed = failed.some(({ values, fresh: some }) => [...values, ...some].some(([, value]) => value));
  return [
    panel("throughput", `throughput, ops/s, stacked${per}`, "stacked", series("ops_per_second", (told) => told.succeeded), words.rate, live.every_s),
    panel("latency", `p99 latency of every ${words.duration(live.every_s)} (log scale)`, "log", series("p99_us", (told) => told.p99_us), words.latency, live.every_s),
    ...(anyFailed ? [panel("failed", `failed operations/s, stacked${per}`, "stacked", failed, words.rate, live.every_s)] : []),
  ];
}

/** @param {Live} live */
function targetPanels(live) {
  const { baseline_iops: iops = null, burst_iops: burst = null, throughput_mib_s: mibS = null } = live.caps ?? {};
  const limits = [
    iops !== null && { value: iops, label: `${burst && burst !== iops ? "baseline" : "limit"} ${words.number(iops)} IOPS` },
    burst !== null && burst !== iops && { value: burst, label: `burst ${words.number(burst)} IOPS` },
  ].filter((limit) => limit !== false);
  /** @param {Record<string, string>} columns */
  const series = (columns) =>
    Object.entries(columns).map(([column, name], i) => ({
      name,
      color: color(TARGET[i % TARGET.length]),
      values: pairs(live.resources.epoch_s, live.resources[column], beginS(live)),
    }));
  const binS = live.resources.every_s;
  const latencies = { read_latency_us: "reads", write_latency_us: "writes" };
  const balances = {
    burst_balance_percent: "volume's burst balance",
    ebs_io_balance_percent: "instance's I/O balance",
    ebs_byte_balance_percent: "instance's byte balance",
  };
  return [
    panel("iops", "volume, I/O per second, stacked", "stacked", series({ read_iops: "reads", write_iops: "writes" }), words.rate, binS, limits),
    panel("mib", "volume, MiB/s, stacked", "stacked", series({ read_mib_s: "reads", write_mib_s: "writes" }), words.rate, binS,
      mibS === null ? [] : [{ value: mibS, label: `limit ${words.number(mibS)} MiB/s` }]),
    panel("io-latency", "volume, mean latency of an I/O (log scale)", "log", series(latencies), words.latency, binS),
    panel("queue", "volume, queue: I/Os in progress", "lines", series({ queue: "queue" }), words.rate, binS),
    panel("credits", "credits left, %", "percent", series(balances), percentText, binS),
    panel("cpu-credits", "CPU credits left", "lines", series({ cpu_credits: "credits" }), words.rate, binS),
    panel("cpu", "server, CPU, %", "percent", series({ cpu_percent: "CPU" }), percentText, binS),
  ].map((one) => ({ ...one, series: one.series.filter(({ values }) => values.some(([, value]) => value !== null)) }));
}

/** @param {number | null} value */
const percentText = (value) => (value === null ? words.NOTHING : words.percent(value / 100));

/**
 * @param {string} id
 * @param {string} title
 * @param {Panel["kind"]} kind
 * @param {Series[]} series
 * @param {Panel["text"]} text
 * @param {number} binS
 * @param {Panel["limits"]} [limits] those far beyond what was measured are told in the title
 * @returns {Panel}
 */
function panel(id, title, kind, series, text, binS, limits = []) {
  const most = mostOf(series, kind === "stacked");
  const near = limits.filter((limit) => limit.value <= NEAR * most);
  const far = limits.filter((limit) => !near.includes(limit)).map(({ label }) => label);
  return { id, title: [title, ...far].join(", "), kind, series, limits: near, binS, text };
}

/**
 * The largest value; of what is stacked, the largest sum.
 * @param {Series[]} series
 * @param {boolean} summed
 */
export function mostOf(series, summed) {
  /** @type {Map<number, number>} */
  const sums = new Map();
  let most = 0;
  for (const { values, fresh } of series) {
    for (const [at, value] of [...values, ...(fresh ?? [])]) {
      const sum = (summed ? (sums.get(at) ?? 0) : 0) + (value ?? 0);
      sums.set(at, sum);
      most = Math.max(most, sum);
    }
  }
  return most;
}

/**
 * Series on top of one another, from below in their order: blocks of a bin's lower and upper value.
 * @param {Series[]} series
 * @param {"values" | "fresh"} which
 * @returns {[number, number, number][][]}
 */
export function stacked(series, which) {
  /** @type {Map<number, number>} */
  const heights = new Map();
  return series.map((one) =>
    (one[which] ?? []).flatMap(([at, value]) => {
      if (!value) return [];
      const low = heights.get(at) ?? 0;
      heights.set(at, low + value);
      return [/** @type {[number, number, number]} */ ([at, low, low + value])];
    }),
  );
}

/**
 * What a series says at a moment: the value of the bin that holds it; what is fresh has a second each.
 * @param {Series} series
 * @param {number} moment
 * @param {number} binS
 * @returns {number | null}
 */
export function valueAt({ values, fresh }, moment, binS) {
  const holds = (/** @type {number} */ width) => (/** @type {Point} */ [at]) => at <= moment && moment < at + width;
  return (values.find(holds(binS)) ?? fresh?.find(holds(1)))?.[1] ?? null;
}

/**
 * @param {(number | null)[]} times of the epoch
 * @param {(number | null)[] | undefined} column
 * @param {number} begin
 * @returns {Point[]}
 */
const pairs = (times, column, begin) => (column ? times.map((at, i) => [/** @type {number} */ (at) - begin, column[i]]) : []);
