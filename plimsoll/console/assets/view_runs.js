/** The table of runs: filtered, selected to be compared, and kept up to date. */
import { h, list } from "./dom.js";
import { href } from "./routes.js";
import { costWords, figureWords, goneWords, intervalWords, spark, stateTag, verdictWords } from "./run_words.js";
import * as words from "./words.js";

const PAGE = 100;
const FIRST_PAGES = [25, PAGE, PAGE]; // the first is soon there, and fills a screen
const COMPARED_MOST = 10;
const COLUMNS = ["Compare", "Run", "Throughput, ops/s", "State", "Verdict", "By load", "Target", "Target gone", "Cost", "Submitted"];

/**
 * Whether a run has every word of a filter, in any of what the table says of it. Pure.
 * @param {any} run
 * @param {string} filter
 */
export function matches(run, filter) {
  const tags = Object.entries(run.tags).map(([name, value]) => `${name}=${value}`);
  const said = [run.name, run.run_id, run.team, run.target_words, run.state, verdictWords(run.verdict), ...tags].join("\n").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => said.includes(word));
}

/**
 * The runs that the service does not know any more, as after a restart: they should stand among the
 * newest. Pure.
 * @param {Map<string, any>} known
 * @param {any[]} newest all of them, or a whole page
 */
export function forgotten(known, newest) {
  const there = new Set(newest.map((run) => run.run_id));
  const oldest = newest.length < PAGE ? "" : newest.map((run) => run.submitted_at).sort()[0];
  return [...known.values()].filter((run) => run.submitted_at > oldest && !there.has(run.run_id)).map((run) => run.run_id);
}

/**
 * @param {import("./main.js").View} view
 */
export async function showRuns({ main, service, signal, query }) {
  /** @type {Map<string, any>} */
  const runs = new Map();
  const chosen = new Set(query.getAll("run"));
  /** @type {string | null} */
  let cursor = null;

  const filter = h("input", { type: "search", id: "filter", value: query.get("q") ?? "", autocomplete: "off", oninput: () => draw() });
  const compare = h("a", { class: "button", href: href("/compare") }, "");
  const count = h("p", { class: "note", role: "status" }, "Loading the runs …");
  const nothing = h("p", { class: "empty", hidden: true }, "No run yet. ", service.config.may_start ? ["The first takes a few minutes: ", h("a", { href: href("/start") }, "start a run"), "."] : "It is listed here as soon as it has begun.");
  let loaded = false;
  const older = h("button", { type: "button", hidden: true, onclick: () => void load() }, "Load older runs");
  const body = h("tbody", {});
  const region = h("div", { class: "scroll", role: "region", "aria-label": "Runs", tabindex: 0 },
    h("table", { class: "runs" }, h("thead", {}, h("tr", {}, COLUMNS.map((name) => h("th", { scope: "col" }, name)))), body));
  const rows = list(body, (/** @type {{run: any, picked: boolean}} */ { run }) => run.run_id, ({ run, picked }) => row(run, picked, choose));

  /** @param {string} id @param {boolean} on */
  function choose(id, on) {
    if (on) chosen.add(id);
    else chosen.delete(id);
    draw();
  }
  function draw() {
    const all = [...runs.values()].sort((a, b) => b.submitted_at.localeCompare(a.submitted_at));
    const shown = all.filter((run) => matches(run, filter.value));
    rows(shown.map((run) => ({ run, picked: chosen.has(run.run_id) })));
    nothing.hidden = all.length > 0 || cursor !== null || !loaded;
    region.hidden = !nothing.hidden;
    count.textContent = !all.length
      ? ""
      : `${words.plural(shown.length, "run")}${shown.length < all.length ? ` of ${all.length}` : ""}${cursor ? "; there are older ones" : ""}.`;
    older.hidden = cursor === null;
    const ready = chosen.size >= 2 && chosen.size <= COMPARED_MOST;
    compare.textContent = ready ? `Compare ${chosen.size} runs` : "Compare: choose 2 to 10 runs";
    compare.setAttribute("href", ready ? href("/compare", [...chosen].map((id) => ["run", id])) : href("/compare"));
    compare.classList.toggle("quiet", !ready);
  }
  async function load(limit = PAGE) {
    const page = await service.get(`/runs?limit=${limit}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`, signal);
    cursor = page.next_cursor;
    page.runs.forEach((/** @type {any} */ run) => runs.set(run.run_id, run));
    loaded = true;
    draw();
  }

  main.append(
    h("h1", {}, "Runs"),
    h(
      "div",
      { class: "bar" },
      h("label", { for: "filter" }, "Filter by name, target, team, state or tag"),
      filter,
      compare,
      service.config.may_start && h("a", { class: "button quiet", href: href("/start") }, "Start a run"),
    ),
    region,
    count,
    nothing,
    older,
  );

  await service.keep(async () => {
    for (const [i, limit] of FIRST_PAGES.entries()) if (i === 0 || cursor) await load(limit);
    if (service.config.one_run && runs.size === 1) location.replace(href(`/runs/${[...runs.keys()][0]}`));
    return false;
  }, signal);
  await service.keep(async () => {
    let first = true;
    const taken = (/** @type {{runs: any[]}} */ { runs: news }) => {
      if (first) forgotten(runs, news).forEach((id) => runs.delete(id));
      first = false;
      news.forEach((run) => runs.set(run.run_id, run));
      draw();
    };
    if (service.config.events_path === null) return taken(await service.get(`/runs?limit=${PAGE}`, signal));
    await service.stream("", null, ({ kind, data }) => kind === "runs" && taken(JSON.parse(data)), signal);
  }, signal);
}

/**
 * @param {any} run
 * @param {boolean} picked
 * @param {(id: string, on: boolean) => void} choose
 */
function row(run, picked, choose) {
  const box = h("input", {
    type: "checkbox", id: `pick-${run.run_id}`, checked: picked, "aria-label": `Compare ${run.name}`,
    onchange: (/** @type {Event} */ event) => choose(run.run_id, /** @type {HTMLInputElement} */ (event.target).checked),
  });
  const under = [run.team, run.past && "of an earlier start", ...Object.entries(run.tags).map(([name, value]) => `${name}=${value}`)];
  return h(
    "tr",
    {},
    h("td", {}, box),
    h("th", { scope: "row" }, h("a", { href: href(`/runs/${run.run_id}`) }, run.name), h("span", { class: "note block" }, under.filter(Boolean).join(" · "))),
    h("td", {}, h("b", {}, figureWords(run)), run.interval && h("span", { class: "note block" }, intervalWords(run.interval))),
    h("td", {}, stateTag(run.state, run.capacity_ops_per_second !== null), stepsWords(run)),
    h("td", {}, verdictWords(run.verdict)),
    h("td", {}, spark(run.curve)),
    h("td", {}, h("span", { class: "two", title: run.target_words }, run.target_words ?? words.NOTHING)),
    h("td", {}, goneWords(run)),
    h("td", {}, costWords(run)),
    h("td", {}, words.moment(run.submitted_at)),
  );
}

/** @param {any} run */
function stepsWords({ progress, ended_at: ended, phase }) {
  return h("span", { class: "note block" }, ended ? words.plural(progress.steps_finished, "step") : progress.step === null ? phase : `${phase} ${progress.step}`);
}
