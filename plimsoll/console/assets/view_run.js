/** A run as it goes on, and what it came to. */
import { facts, h, place, table } from "./dom.js";
import { drawing } from "./drawing.js";
import { followed } from "./follow.js";
import { hasEnded, isOver, latestOf } from "./live.js";
import { href } from "./routes.js";
import { reportLink, stopControl } from "./run_controls.js";
import { outcomeOf, stateTag } from "./run_words.js";
import * as words from "./words.js";

/** @typedef {import("./live.js").Live} Live */

/**
 * @param {import("./main.js").View} view
 */
export async function showRun({ main, service, signal, id, say }) {
  const runId = /** @type {string} */ (id);
  const parts = skeleton();
  const curve = drawing(service, "curve", signal, "No load has been measured yet.");
  const clock = drawing(service, "timeline", signal, "Nothing has been measured yet.");
  parts.curve.append(curve.element, parts.loads);
  parts.clock.append(clock.element, parts.steps);
  const stop = stopControl(service, runId);
  const report = reportLink(service, runId, signal);
  const { run_id: alone, may_start: starts } = service.config;
  const buy = h("a", { class: "button quiet", hidden: true, href: href(`/buy/${encodeURIComponent(runId)}`) }, "What to buy");
  main.append(
    parts.head,
    h("div", { class: "bar" },
      stop.element,
      report.element,
      !alone && buy,
      !alone && h("a", { class: "button quiet", href: href("/runs", [["run", runId]]) }, "Compare with others"),
      starts && h("a", { class: "button quiet", href: href("/start", [["like", runId]]) }, "Run again with changes")),
    parts.body,
  );

  const shows = [
    place(parts.head, heading),
    place(parts.answer, answerSection),
    place(parts.now, nowSection),
    place(parts.tiles, tiles),
    place(parts.loads, loadsTable),
    place(parts.steps, stepsTable),
    place(parts.log, logLines),
    place(parts.teardown, stages),
  ];
  let told = "";
  /** @type {() => void} */
  let tick = () => {};
  const ticking = setInterval(() => tick(), 1000);
  signal.addEventListener("abort", () => clearInterval(ticking));
  const draw = (/** @type {Live} */ live) => {
    const came = performance.now();
    tick = () => shows[2](/** @type {any} */ (nowOf(live, (performance.now() - came) / 1000)));
    document.title = `${live.run.name} · Plimsoll`;
    const picked = [
      pick(live.run, "run_id", "name", "team", "state", "capacity_ops_per_second", "target_words", "submitted_at", "tags", "past"),
      { answer: live.answer, run: pick(live.run, "state", "failure", "local"), over: hasEnded(live.run.state) },
      nowOf(live, 0),
      tilesOf(live),
      pick(live, "loads", "axis", "statistic"),
      pick(live, "steps", "statistic"),
      live.log,
      live.teardown,
    ];
    shows.forEach((show, i) => show(/** @type {any} */ (picked[i])));
    parts.now.hidden = hasEnded(live.run.state);
    parts.tiles.hidden = tilesOf(live) === null;
    stop.show(live.run);
    buy.hidden = !(hasEnded(live.run.state) && live.answer?.figure);
    report.show(live.run);
    curve.show(curveOf(live));
    clock.show(clockOf(live));
    const news = live.log.at(-1)?.text ?? "";
    if (news !== told) say((told = news));
  };
  await followed(service, runId, draw, isOver, signal);
}

/** @param {any} from @param {...string} names */
const pick = (from, ...names) => Object.fromEntries(names.map((name) => [name, from[name]]));

/**
 * What is going on, so long after the service told it: time goes on meanwhile.
 * @param {Live} live
 * @param {number} sinceS
 */
function nowOf({ plan, time, money, run }, sinceS) {
  if (hasEnded(run.state)) return null;
  const left = (/** @type {number | null} */ seconds) => (seconds === null ? null : Math.max(0, Math.round(seconds - sinceS)));
  const now = { ...time, elapsed_s: Math.round(time.elapsed_s + sinceS), left_s: left(time.left_s), limit_left_s: left(time.limit_left_s) };
  return { plan, time: now, money, run: pick(run, "phase", "state", "local") };
}

/** What is measured at the moment; null: it has ended, or nothing is measured yet. @param {Live} live */
function tilesOf(live) {
  const latest = hasEnded(live.run.state) ? null : latestOf(live);
  const step = live.steps.at(-1);
  return latest && { ...latest, of_step: latest.since.startsWith("step") && step ? pick(step, "throughput_ops_per_second", "errors") : null };
}

/** @param {ReturnType<typeof tilesOf>} given */
function tiles(given) {
  if (given === null) return null;
  const { since, operations, of_step: step } = given;
  const sum = (/** @type {"ops" | "errors"} */ name) => operations.reduce((all, one) => all + (one[name] ?? 0), 0);
  const [ops, errors] = step ? [step.throughput_ops_per_second, step.errors] : [sum("ops"), sum("errors")];
  /** @type {[string, string][]} */
  const shown = [
    ["throughput, ops/s", words.rate(ops)],
    ...operations.map(({ name, latency_us: us }) => /** @type {[string, string]} */ ([`latency of ${name}`, words.latency(us)])),
    [step ? "errors" : "errors/s", words.number(errors)],
  ];
  return [h("h2", {}, `Latest figures (${since})`), h("dl", { class: "tiles" }, shown.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text))))];
}

/** The places of the view, each with its heading. */
function skeleton() {
  const places = {
    head: h("header", {}, h("p", { class: "note", role: "status" }, "Loading the run …")),
    answer: h("section", { "aria-label": "The answer" }),
    tiles: h("section", { class: "card", "aria-label": "Latest figures" }),
    now: h("section", { class: "answer", "aria-label": "Progress" }),
    curve: h("figure", {}, h("h2", {}, "The curve")),
    loads: h("details", {}, ""),
    clock: h("figure", {}, h("h2", {}, "Timeline")),
    steps: h("details", {}, ""),
    log: h("ol", { class: "log", tabindex: 0, "aria-label": "Newest first" }),
    teardown: h("ol", { class: "log", tabindex: 0, "aria-label": "In order" }),
  };
  const body = h(
    "div",
    {},
    places.answer,
    places.tiles,
    places.curve,
    places.now,
    h("div", { class: "grid" },
      h("section", { class: "card" }, h("h2", {}, "Log"), places.log),
      h("section", { class: "card" }, h("h2", {}, "Teardown"), places.teardown)),
    places.clock,
  );
  return { ...places, body };
}

/** @param {any} run */
function heading(run) {
  const tags = Object.entries(run.tags).map(([name, value]) => `${name}=${value}`);
  return [
    h("p", { class: "kicker" }, "A run ", stateTag(run.state, run.capacity_ops_per_second !== null)),
    h("h1", {}, run.name),
    h("p", { class: "under" }, [run.target_words, words.moment(run.submitted_at), run.team, ...tags, run.run_id].filter(Boolean).join(" · ")),
  ];
}

/** @param {{answer: any, run: any, over: boolean}} given */
function answerSection({ answer, run, over }) {
  if (answer === null) {
    if (!over) return null;
    const why = run.failure ? `${words.capitalized(run.failure.cause)}.` : "It has no verdict yet.";
    return h("div", { class: "answer" }, h("p", { class: "sentence" }, `${words.capitalized(run.state.toLowerCase().replaceAll("_", " "))}. ${why}`));
  }
  return h(
    "div",
    { class: "answer" },
    h("p", { class: "figure" },
      answer.figure && [h("span", { class: "number" }, answer.figure), h("span", { class: "unit" }, "ops/s")],
      h("span", { class: `tag ${answer.decided ? "decided" : "undecided"}` }, answer.tag)),
    h("p", { class: "sentence" }, answer.sentence),
    facts(answer.facts),
    run.local && run.request?.target.kind !== "endpoint" && h("p", { class: "note" }, "Measured on one machine with an emulated volume: compare such figures with one another, not with AWS."),
  );
}

/** @param {ReturnType<typeof nowOf>} given null: it has ended */
function nowSection(given) {
  if (given === null) return null;
  const { plan, time, money, run } = given;
  const doing = plan && run.phase === "step" ? [plan.sentence, plan.then].filter(Boolean).join(", ") : run.phase;
  const known = plan?.steps_expected ? { max: plan.steps_expected, value: Math.min(plan.step, plan.steps_expected) } : {};
  return [
    h("p", { class: "sentence" }, `${words.capitalized(run.state === "STOPPING" ? "stopping: its target is being deleted" : doing)}.`),
    plan?.why && run.phase === "step" && h("p", { class: "note" }, `${words.capitalized(plan.why)}.`),
    h("progress", { "aria-label": "Steps done of those expected", ...known }),
    facts([
      ["Time so far", words.duration(time.elapsed_s)],
      ["Time left (estimate)", words.duration(time.left_s)],
      ["At most", time.limit_left_s === null ? words.duration(time.time_limit_s) : words.duration(time.limit_left_s)],
      ["Money", moneyWords(money, run)],
    ]),
  ];
}

/** @param {any} money @param {any} run */
function moneyWords(money, run) {
  if (run.local) return `none on this machine${money.target_usd_per_hour ? `; on AWS such a target costs ${words.usd(money.target_usd_per_hour)} an hour` : ""}`;
  const spent = `${words.usd(money.spent_usd)} so far`;
  if (money.budget_usd) return `${spent} of a budget of ${words.usd(money.budget_usd)}`;
  return `${spent}, about ${words.usd(money.expected_usd)} in all`;
}

/** What the curve is drawn of. @param {Live} live */
function curveOf({ statistic, axis, loads, bracket, run }) {
  return { statistic, axis, loads, bracket, figure: run.capacity_ops_per_second, bound: run.bound, interval: run.interval };
}

/** What the timeline is drawn of; it goes on while nothing is measured, but not for each second. @param {Live} live */
function clockOf({ at, every_s, run, plan, steps, seconds, resources, caps, fresh = [] }) {
  const known = { submitted_at: run.submitted_at, ended_at: run.ended_at };
  return { at, every_s, run: known, plan: plan && { ...plan, clients: null }, steps, seconds, resources, caps, fresh };
}

/** @param {{loads: any[], axis: string, statistic: string}} given */
function loadsTable({ loads, axis, statistic }) {
  const operations = [...new Set(loads.flatMap((load) => Object.keys(load.latency_us)))].sort();
  const name = words.statistic(statistic);
  return [
    h("summary", {}, `Every load as a table (${loads.length})`),
    table("Every load", ["Load", "Throughput, ops/s", ...operations.map((operation) => `${operation} ${name} (limit)`), "Repetitions", "Judged", "Because"],
      loads.map((load) => [
        words.load(load.load, axis),
        words.rate(load.throughput_ops_per_second),
        ...operations.map((operation) => `${words.latency(load.latency_us[operation])} (${words.latency(load.limit_us[operation])})`),
        `${load.repetitions_passed} of ${load.repetitions} passed`,
        h("span", { class: outcomeOf(load) }, outcomeOf(load)),
        load.explanations.join("; ") || "within every limit",
      ]), "loads"),
  ];
}

/** @param {{steps: import("./live.js").Step[]}} given */
function stepsTable({ steps }) {
  return [
    h("summary", {}, `Every step as a table (${steps.length})`),
    table("Every step", ["Step", "Load", "Result", "Errors", "Notes"],
      steps.map((step) => [step.step, words.number(step.load), step.words, words.number(step.errors), step.problems.join("; ") || words.NOTHING]), "steps"),
  ];
}

/** The newest first: no scrolling is needed to see it. @param {import("./live.js").LogLine[]} lines */
const logLines = (lines) => [...lines].reverse().map((line) => h("li", { class: line.problem ? "warned" : "" }, h("time", { datetime: line.at }, words.timeOfDay(line.at)), " ", line.text));

/** @param {Live["teardown"]} teardown */
function stages({ stages: all, gone }) {
  if (!all.length) return h("li", { class: "note" }, gone ? "Gone." : "Not started: the target is deleted when the run ends.");
  return all.map(({ stage, at, text }) => h("li", { class: stage === "failed" ? "warned" : "" }, h("b", {}, stage), at && [" ", h("time", { datetime: at }, words.timeOfDay(at))], h("span", { class: "note block" }, text)));
}
