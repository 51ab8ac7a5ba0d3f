/**
 * The page: which view an address shows, the token that lets it call, and what it says of its
 * connection.
 *
 * @typedef {object} View what every view is given
 * @property {HTMLElement} main
 * @property {Service} service
 * @property {AbortSignal} signal comes when another view is shown
 * @property {string | null} id
 * @property {URLSearchParams} query
 * @property {(text: string) => void} say to those who listen: what has happened
 */
import { h } from "./dom.js";
import { href, routeOf, tokenIn } from "./routes.js";
import { VERDICTS } from "./run_words.js";
import { Refusal, Service } from "./service.js";
import { sharedToken } from "./token.js";
import { showBuy } from "./view_buy.js";
import { showCheck } from "./view_check.js";
import { showCompare } from "./view_compare.js";
import { showExperiment } from "./view_experiment.js";
import { showChecks, showExperiments, showPurchases } from "./view_lists.js";
import { showRun } from "./view_run.js";
import { showRuns } from "./view_runs.js";
import { showStart } from "./view_start.js";
import * as words from "./words.js";

/** @type {Record<string, [string, string, (view: View) => Promise<void>]>} by address: title, where the menu has it */
const VIEWS = {
  runs: ["Runs", "runs", showRuns],
  "runs/": ["A run", "runs", showRun],
  experiments: ["Experiments", "experiments", showExperiments],
  "experiments/": ["An experiment", "experiments", showExperiment],
  checks: ["Checks", "checks", showChecks],
  "checks/": ["A check", "checks", showCheck],
  compare: ["Compare", "compare", showCompare],
  buy: ["What to buy", "buy", showPurchases],
  "buy/": ["What to buy", "buy", showBuy],
  start: ["Start a run", "start", showStart],
};

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @type {Service} */
let service;
let leaving = new AbortController();
let reachedAt = Date.now();

const link = {
  fine() {
    reachedAt = Date.now();
    if (part("link").dataset.state === "lost") {
      tellLink("fine", "");
      part("said").textContent = "Connected again.";
    }
  },
  /** @param {string} why @param {number} againInS */
  lost(why, againInS) {
    const reason = why ? `Plimsoll answers: ${why}` : "The connection to Plimsoll is lost.";
    tellLink("lost", `${reason} The figures shown are from ${words.timeOfDay(reachedAt)}. Trying again in ${words.duration(againInS)}.`);
  },
  refused() {
    tellLink("refused", "This page's token is not valid: Plimsoll was restarted, or the page was opened without its full address. Open the address that Plimsoll printed, or paste it here.");
  },
};

/** @param {"fine" | "lost" | "refused"} state @param {string} text */
function tellLink(state, text) {
  part("link").dataset.state = state;
  part("link-text").textContent = text;
  part("link").hidden = state === "fine";
  part("token-form").hidden = state !== "refused";
}

/**
 * Show the view of the address, in place of the one that is there.
 * @returns {Promise<void>}
 */
async function show() {
  const given = tokenIn(location.hash);
  if (given) return enter(given);
  const { name, id, query } = routeOf(location.hash);
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [title, place, view] = VIEWS[id ? `${name}/` : name] ?? VIEWS.runs;
  document.title = `${title} · Plimsoll`;
  document.querySelectorAll("nav a").forEach((anchor) => {
    if (anchor.getAttribute("href") === `#/${place}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  });
  const main = part("main");
  main.replaceChildren();
  scrollTo(0, 0);
  try {
    await view({ main, service, signal, id, query, say: (text) => (part("said").textContent = text) });
  } catch (error) {
    if (signal.aborted || (error instanceof Refusal && error.status === 401)) return;
    main.append(h("p", { class: "problem", role: "alert" }, error instanceof Refusal ? `${words.capitalized(error.message)}.` : `This view failed: ${error}`));
    if (!(error instanceof Refusal)) throw error;
  }
}

/** Take a token, and take it out of the address. @param {string} token */
function enter(token) {
  service.token = token;
  sessionStorage.setItem("token", token);
  tellLink("fine", "");
  const after = service.config.run_id ? `/runs/${service.config.run_id}` : "/runs";
  const route = tokenIn(location.hash) ? href(after) : location.hash;
  history.replaceState(null, "", location.pathname + route);
  return show();
}

async function begin() {
  const answer = await fetch("config.json", { cache: "no-store" });
  const config = await answer.json();
  Object.assign(VERDICTS, config.verdicts);
  service = new Service(config, link);
  part("where").textContent = config.where;
  part("version").textContent = `Plimsoll ${config.version}`;
  part("start-link").hidden = !config.may_start;
  part("menu").hidden = config.run_id !== null; // there is that run alone
  part("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (part("token"));
    const text = field.value.trim();
    field.value = "";
    void enter(tokenIn(text.slice(text.indexOf("#") + 1)) ?? text);
  });
  part("skip").addEventListener("click", (event) => {
    event.preventDefault(); // its fragment is no address of a view
    part("main").focus();
  });
  addEventListener("hashchange", () => {
    void show();
    part("main").focus();
  });
  if (config.auth === "token") service.token = await sharedToken(tokenIn(location.hash), (token) => void enter(token));
  if (config.run_id && !location.hash.startsWith("#/") && !tokenIn(location.hash)) history.replaceState(null, "", href(`/runs/${config.run_id}`));
  await show();
}

void begin();
