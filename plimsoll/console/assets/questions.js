/** The three questions of a run: which database, which work, which limits. The rest is for experts. */
import { h } from "./dom.js";
import { at, labelOf, resolved, variants, withAt } from "./schema.js";

/** @typedef {{name: string, about: string, operations?: string[]}} Workload */

/** What people call each kind of target. @type {Record<string, string>} */
const KINDS = {
  rds: "RDS, made for the run",
  aurora: "Aurora, made for the run",
  cassandra: "Cassandra, made for the run",
  endpoint: "My own database",
};
/** @type {Record<string, string>} */
const ENGINES = { mariadb: "MariaDB", mysql: "MySQL", postgres: "PostgreSQL", cassandra: "Cassandra" };
const OWN = "My own: its definition is under Expert";

/**
 * @param {import("./schema.js").Schema} schema of a request
 * @param {Workload[]} workloads
 * @param {(value: any) => void} give a changed request
 * @returns {{element: HTMLElement, show: (value: any) => void}}
 */
export function questions(schema, workloads, give) {
  const kinds = variants(resolved(schema.properties.target, schema), schema);
  /** @type {any} */
  let value = {};
  /** @param {string[]} path @param {unknown} given */
  const change = (path, given) => give(withAt(value, path, given) ?? {});

  const kind = select("kind", [...kinds.keys()].map((name) => [name, KINDS[name] ?? labelOf(name)]), (chosen) => change(["target"], { kind: chosen }));
  const engine = select("engine", [], (chosen) => change(["target", "engine"], chosen || undefined));
  const work = select("work", [...workloads.map(({ name }) => /** @type {[string, string]} */ ([name, name])), ["", OWN]], (chosen) =>
    give(withAt(withAt(value, ["limits", "limits_us"], undefined) ?? {}, ["workload", "name"], chosen || undefined) ?? {}));
  const about = h("p", { class: "note" });
  const limits = h("div", { class: "fields" });
  const rule = h("p", { class: "note" });
  const engineField = field("Product", engine);
  /** @type {[HTMLInputElement, HTMLElement][]} where one's own database is */
  const places = ["host", "database"].map((name) => {
    const input = h("input", { id: `question-${name}`, name, type: "text", autocomplete: "off", spellcheck: "false",
      oninput: () => change(["target", name], input.value.trim() || undefined) });
    return [input, field(`Its ${name}`, input)];
  });

  /** The limits' fields are made anew where the work is another one: the one that is written in stays. @param {string[]} operations */
  function fillLimits(operations) {
    const known = at(value, ["limits", "limits_us"]) ?? {};
    const inputs = /** @type {HTMLInputElement[]} */ ([...limits.querySelectorAll("input")]);
    if (inputs.map(({ name }) => name).join("\n") === operations.join("\n")) {
      for (const input of inputs) if (input !== document.activeElement) input.value = written(known[input.name]);
      return;
    }
    limits.replaceChildren(...operations.map((name, i) => field(`${name}, at most, ms`, h("input", {
      id: `question-limit-${i}`, name, type: "text", inputmode: "decimal", autocomplete: "off", value: written(known[name]),
      oninput: (/** @type {Event} */ event) => {
        const text = /** @type {HTMLInputElement} */ (event.target).value.trim();
        const us = text === "" ? undefined : Number.isNaN(Number(text)) ? text : Number((1000 * Number(text)).toPrecision(12));
        change(["limits", "limits_us", name], us);
      },
    }))));
  }

  return {
    element: h("form", { class: "card", "aria-label": "The run", novalidate: true, onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      h("div", { class: "fields" }, field("Which database?", kind), engineField, places.map(([, element]) => element), field("Which work?", work)), about,
      h("p", { class: "question" }, "Which limits?"), limits, rule),
    show(now) {
      value = now;
      kind.value = at(value, ["target", "kind"]) ?? "";
      const among = kinds.get(kind.value)?.properties.engine;
      const engines = among ? (resolved(among, schema).enum ?? []) : [];
      engine.replaceChildren(...engines.map((/** @type {string} */ name) => h("option", { value: name }, ENGINES[name] ?? name)));
      engine.value = at(value, ["target", "engine"]) ?? "";
      engineField.hidden = engines.length === 0;
      for (const [input, element] of places) {
        element.hidden = kind.value !== "endpoint";
        if (input !== document.activeElement) input.value = at(value, ["target", input.name]) ?? "";
      }
      const own = at(value, ["workload", "definition"]) !== undefined;
      const chosen = own ? undefined : workloads.find(({ name }) => name === at(value, ["workload", "name"]));
      work.value = chosen?.name ?? "";
      about.textContent = chosen?.about ?? "One of your own, or derived from production: plimsoll workload derive.";
      const operations = chosen?.operations ?? Object.keys(at(value, ["limits", "limits_us"]) ?? {});
      fillLimits(operations);
      const statistic = at(value, ["limits", "statistic"]) ?? "p99";
      rule.textContent = `Each operation's ${statistic === "p999" ? "p99.9" : statistic} counts. Left empty: ${at(value, ["limits", "deterioration"]) ?? 3} times its latency at the lightest load.`;
    },
  };
}

/** @param {unknown} us */
const written = (us) => (typeof us === "number" ? String(Number((us / 1000).toPrecision(6))) : us === undefined ? "" : String(us));

/** @param {string} name @param {[string, string][]} among @param {(value: string) => void} choose */
const select = (name, among, choose) => h("select", { id: `question-${name}`, onchange: (/** @type {Event} */ event) => choose(/** @type {HTMLSelectElement} */ (event.target).value) }, among.map(([value, text]) => h("option", { value }, text)));

/** @param {string} label @param {HTMLElement} input */
const field = (label, input) => h("div", { class: "field" }, h("label", { for: input.id }, label), input);
