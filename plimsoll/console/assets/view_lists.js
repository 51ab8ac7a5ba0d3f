/** What there is to open: experiments, checks, and runs from which a purchase is worked out. */
import { h, table } from "./dom.js";
import { href } from "./routes.js";
import { figureWords, intervalWords, stateTag } from "./run_words.js";
import * as words from "./words.js";

const LISTED_MOST = 100;

/**
 * @param {import("./main.js").View} view
 */
export async function showExperiments({ main, service, signal }) {
  main.append(h("h1", {}, "Experiments"), h("p", {}, "An experiment runs every combination of its variants, such as volumes and workloads, and says which one to buy."));
  const { experiments } = await service.get(`/experiments?limit=${LISTED_MOST}`, signal);
  main.append(
    experiments.length
      ? table("Experiments", ["Experiment", "State", "Runs", "Submitted"], experiments.map((/** @type {any} */ one) => [
          h("a", { href: href(`/experiments/${one.experiment_id}`) }, one.name), stateTag(one.state), one.cells, words.moment(one.submitted_at)]), "words listed")
      : empty("No experiment yet. Start one from a preset that compares targets", service),
  );
}

/**
 * @param {import("./main.js").View} view
 */
export async function showChecks({ main, service, signal }) {
  main.append(h("h1", {}, "Checks"), h("p", {}, "A check runs the same request on a schedule, and says when its figures change."));
  const { schedules } = await service.get("/schedules", signal);
  main.append(
    schedules.length
      ? table("Checks", ["Check", "When", "Next", "What for"], schedules.map((/** @type {any} */ one) => [
          h("a", { href: href(`/checks/${one.name}`) }, one.name), words.schedule(one.schedule), one.enabled ? words.moment(one.next_at) : "disabled", one.description || words.NOTHING]), "words listed")
      : h("p", { class: "empty" }, "No check yet. Make one with ", h("code", {}, "plimsoll schedule put FILE.yaml"), "."),
  );
}

/**
 * @param {import("./main.js").View} view
 */
export async function showPurchases({ main, service, signal }) {
  main.append(h("h1", {}, "What to buy"), h("p", {}, "Choose the run whose database is to carry more: from what it measured follows which targets carry a load, and what each costs."));
  const { runs } = await service.get(`/runs?limit=${LISTED_MOST}`, signal);
  const measured = runs.filter((/** @type {any} */ run) => run.capacity_ops_per_second !== null);
  main.append(
    measured.length
      ? table("Runs with a figure", ["Run", "Throughput, ops/s", "95 % interval", "Target", "Submitted"], measured.map((/** @type {any} */ run) => [
          h("a", { href: href(`/buy/${run.run_id}`) }, run.name), h("b", {}, figureWords(run)), intervalWords(run.interval), run.target_words ?? words.NOTHING, words.moment(run.submitted_at)]), "words listed")
      : empty("No run with a figure yet. Start one", service),
  );
}

/**
 * @param {string} text goes on with where that is done
 * @param {import("./service.js").Service} service
 */
export function empty(text, { config }) {
  return h("p", { class: "empty" }, text, ": ", config.may_start ? h("a", { href: href("/start") }, "Start a run") : h("code", {}, "plimsoll submit FILE.yaml"), ".");
}
