/** A run put together in a form, with what it would take beside it; or a scenario's experiment. */
import { copyControl } from "./copy.js";
import { h, place } from "./dom.js";
import { SchemaForm } from "./form.js";
import { GROUPS, presetsOf } from "./presets.js";
import { questions } from "./questions.js";
import { quoteSection } from "./quote.js";
import { href } from "./routes.js";
import { Refusal } from "./service.js";
import * as words from "./words.js";
import { yaml } from "./yaml.js";

const QUOTE_AFTER_MS = 400; // the last change

/**
 * @param {import("./main.js").View} view
 */
export async function showStart({ main, service, signal, query, say }) {
  const [schema, { scenarios }, { workloads }, like] = await Promise.all([
    service.get("/schemas/request", signal),
    service.get("/scenarios", signal),
    service.get("/workloads", signal),
    query.has("like") ? service.get(`/runs/${encodeURIComponent(query.get("like") ?? "")}`, signal) : null,
  ]);
  /** @type {import("./presets.js").Preset[]} */
  const presets = [...(like ? [{ name: `as ${like.name}`, group: "again", about: "The request of that run, with all defaults written out.", request: like.request }] : []), ...presetsOf(scenarios)];
  let chosen = presets[0];
  let key = crypto.randomUUID(); // of what is sent: sent twice, it is one run
  let refused = ""; // the key that could not be started: no quote of it clears why
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const parts = {
    about: h("p", { class: "note" }),
    quote: h("section", { class: "card", "aria-label": "Time and cost" }),
    yaml: h("code", {}),
    problem: h("p", { class: "bad", role: "alert" }),
  };
  const showQuote = place(parts.quote, ({ quote, stepS }) => quoteSection(quote, service.config.where, stepS));
  const form = new SchemaForm(schema, () => changed(), { "workload.name": workloads.map((/** @type {any} */ one) => one.name) });
  const asked = questions(schema, workloads, (value) => {
    form.fill(value);
    changed();
  });
  const expert = h("details", { class: "expert" }, h("summary", {}, "Expert: every field of the request"), form.element);
  const select = h("select", { id: "preset", onchange: () => choose(presets[Number(select.value)]) },
    Object.entries(GROUPS).map(([group, label]) => {
      const options = presets.map((preset, i) => preset.group === group && h("option", { value: i }, preset.name)).filter(Boolean);
      return options.length > 0 && h("optgroup", { label }, options);
    }));
  const start = h("button", { type: "button", onclick: () => void send() }, "Start the run");
  const copy = copyControl(parts.yaml);

  const body = () => chosen.experiment ?? form.value;
  const kind = () => (chosen.experiment ? "experiments" : "runs");

  /** How long a step is; null: of an experiment's runs that may differ. */
  function stepSeconds() {
    if (chosen.experiment) return null;
    const { warmup_s: warmup, duration_s: window } = { ...schema.properties.load.default, ...form.value.load };
    return warmup + window;
  }

  /** @param {import("./presets.js").Preset} preset */
  function choose(preset) {
    chosen = preset;
    asked.element.hidden = expert.hidden = Boolean(preset.experiment);
    form.fill(preset.request ?? {});
    parts.about.textContent = preset.about;
    start.textContent = preset.experiment ? "Start the experiment" : "Start the run";
    changed();
  }
  function changed() {
    key = crypto.randomUUID();
    asked.show(form.value);
    parts.yaml.textContent = yaml(body());
    copy.changed();
    clearTimeout(timer);
    timer = setTimeout(() => void quoted(), QUOTE_AFTER_MS);
  }
  async function quoted() {
    const sent = key;
    try {
      const quote = await service.call("POST", chosen.experiment ? "/quotes/experiments" : "/quotes", { body: body(), signal });
      if (sent !== key) return; // it has changed meanwhile
      if (refused !== key) complain(null);
      showQuote({ quote, stepS: stepSeconds() });
      say(`It takes about ${words.duration(quote.time_s.expected)}.`);
    } catch (error) {
      if (sent !== key || signal.aborted) return;
      complain(error);
      showQuote({ quote: null, stepS: null });
    }
  }
  /** @param {unknown} error null: nothing is wrong */
  function complain(error) {
    const complaints = error instanceof Refusal ? error.complaints : [];
    const homeless = form.complain(complaints).map(({ field, detail }) => `${field}: ${detail}`);
    const count = complaints.length - homeless.length;
    const told = count ? [`${words.plural(count, "field")} ${count === 1 ? "is" : "are"} wrong; each says why`, ...homeless] : homeless;
    const whole = error instanceof Refusal ? error.message : error ? "Plimsoll was not reached" : "";
    parts.problem.textContent = told.join(". ") || whole;
  }
  async function send() {
    start.disabled = true;
    try {
      const made = await service.call("POST", `/${kind()}`, { body: body(), key });
      location.hash = href(`/${kind()}/${made.run_id ?? made.experiment_id}`);
    } catch (error) {
      refused = key;
      complain(error);
      form.showFirst();
    } finally {
      start.disabled = false;
    }
  }

  main.append(
    h("h1", {}, "Start a run"),
    h("div", { class: "bar" }, h("label", { for: "preset" }, "Start from"), select),
    parts.about,
    h("div", { class: "beside" },
      h("div", {}, asked.element, expert),
      h("div", { class: "sticky" },
        h("div", { class: "card" }, start, parts.problem),
        parts.quote,
        h("section", { class: "card", "aria-label": "The same as a file" }, h("h2", {}, "The same as a file"), h("pre", { tabindex: 0, "aria-label": "YAML" }, parts.yaml), copy.element))),
  );
  if (presets.length) choose(chosen);
}
