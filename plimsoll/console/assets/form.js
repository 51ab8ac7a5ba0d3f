/**
 * A form made from a JSON Schema. It holds what is given and nothing else: a field left empty has
 * its default, which it names.
 *
 * @typedef {import("./schema.js").Schema} Schema
 * @typedef {import("./service.js").Complaint} Complaint
 */
import { h } from "./dom.js";
import { at, kindOf, labelOf, read, resolved, variants, withAt, written } from "./schema.js";

const OPEN = ["target", "volume", "workload", "search"]; // groups that a newcomer needs, where there is room
const ROOM_PX = 860; // as console.css has it
const FIRST = ["name", "description", "target", "workload", "search", "load", "prepare", "limits", "budget_usd", "time_limit_s"];
const LEFT_OUT = ["runs", "team"]; // several runs in one file; whose it is, the service knows

export class SchemaForm {
  element = h("form", { class: "request", novalidate: true, onsubmit: (/** @type {Event} */ event) => event.preventDefault() });
  /** @type {any} */
  value = {};

  /**
   * @param {Schema} schema
   * @param {(value: any) => void} changed
   * @param {Record<string, string[]>} suggestions values to choose from, by the field's path
   */
  constructor(schema, changed, suggestions = {}) {
    this.root = schema;
    this.changed = changed;
    this.suggestions = suggestions;
  }

  /** Fill it anew. @param {any} value */
  fill(value) {
    this.value = value;
    const { properties: all } = this.root;
    const rest = Object.keys(all).filter((name) => !FIRST.includes(name) && !LEFT_OUT.includes(name));
    const some = (/** @type {string[]} */ names) => ({ properties: Object.fromEntries(names.map((name) => [name, all[name]])) });
    const more = this.#group("more", { description: "Rarely needed." }, this.#fields(some(rest), []));
    this.element.replaceChildren(...this.#fields(some(FIRST), []), more);
  }

  /**
   * Put complaints at their fields, in place of earlier ones.
   * @param {Complaint[]} complaints
   * @returns {Complaint[]} those that no field is the place of
   */
  complain(complaints) {
    for (const place of this.element.querySelectorAll(".bad")) place.textContent = "";
    for (const input of this.element.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    return complaints.filter(({ field, detail }) => {
      const input = this.#fieldOf(field.split("."));
      if (!input) return true;
      const place = /** @type {HTMLElement} */ (document.getElementById(`${input.id}-bad`));
      place.textContent += `${place.textContent ? "; " : ""}${detail}`;
      input.setAttribute("aria-invalid", "true");
      for (let group = input.closest("details"); group; group = group.parentElement?.closest("details") ?? null) group.open = true;
      return false;
    });
  }

  /** Go to the first field that is complained about. */
  showFirst() {
    /** @type {HTMLElement | null} */ (this.element.querySelector("[aria-invalid]"))?.focus();
  }

  /** The field of a path, or the nearest one around it. @param {string[]} path @returns {HTMLElement | null} */
  #fieldOf(path) {
    if (!path.length) return null;
    const found = document.getElementById(idOf(path));
    return found && this.element.contains(found) ? found : this.#fieldOf(path.slice(0, -1));
  }

  /** @param {Schema} group @param {string[]} path */
  #fields(group, path) {
    return Object.entries(group.properties)
      .filter(([, one]) => !("const" in one))
      .map(([name, one]) => this.#field(one, [...path, name], group.required?.includes(name)));
  }

  /**
   * @param {Schema} raw
   * @param {string[]} path
   * @param {boolean} required
   * @returns {HTMLElement}
   */
  #field(raw, path, required) {
    const schema = resolved(raw, this.root);
    const kind = kindOf(schema, this.root);
    const name = path[path.length - 1];
    if (kind === "group") return this.#group(name, schema, this.#fields(schema, path));
    if (kind === "union") return this.#group(name, schema, this.#union(schema, path));
    const input = this.#input(schema, kind, path);
    const suggested = this.suggestions[path.join(".")];
    const help = [schema.description, required && "Required.", defaultWords(schema)].filter(Boolean).join(" ");
    return h(
      "div",
      { class: "field" },
      h("label", { for: input.id }, labelOf(name)),
      input,
      suggested && h("datalist", { id: `${input.id}-list` }, suggested.map((value) => h("option", { value }))),
      h("p", { class: "bad", id: `${input.id}-bad` }),
      h("p", { class: "note", id: `${input.id}-help` }, help),
    );
  }

  /** @param {string} name @param {Schema} schema @param {HTMLElement[]} fields */
  #group(name, schema, fields) {
    return h("details", { open: OPEN.includes(name) && innerWidth > ROOM_PX }, h("summary", {}, labelOf(name)), h("p", { class: "note" }, schema.description), h("div", { class: "fields" }, fields));
  }

  /** @param {Schema} schema @param {string[]} path */
  #union(schema, path) {
    const choice = schema.discriminator.propertyName;
    const among = variants(schema, this.root);
    const chosen = at(this.value, [...path, choice]) ?? "";
    const inner = h("div", { class: "fields" });
    const select = h(
      "select",
      { id: idOf([...path, choice]), onchange: () => {
        this.#give(path, select.value ? { [choice]: select.value } : undefined);
        fill(select.value);
      } },
      ["", ...among.keys()].map((name) => h("option", { value: name, selected: name === chosen }, name || "–")),
    );
    const about = h("p", { class: "note", id: `${select.id}-help` });
    select.setAttribute("aria-describedby", `${select.id}-bad ${about.id}`);
    const fill = (/** @type {string} */ name) => {
      const variant = among.get(name) ?? { properties: {} };
      about.textContent = variant.description ?? "";
      inner.replaceChildren(...this.#fields(variant, path));
    };
    fill(chosen);
    return [h("div", { class: "field" }, h("label", { for: select.id }, labelOf(choice)), select, h("p", { class: "bad", id: `${select.id}-bad` }), about), inner];
  }

  /** @param {Schema} schema @param {import("./schema.js").Kind} kind @param {string[]} path */
  #input(schema, kind, path) {
    const id = idOf(path);
    const given = written(at(this.value, path), kind);
    const attributes = {
      id, "aria-describedby": `${id}-bad ${id}-help`,
      oninput: (/** @type {Event} */ event) => this.#give(path, read(/** @type {HTMLInputElement} */ (event.target).value, schema, kind)),
    };
    if (kind === "choice") {
      const among = (schema.enum ?? [true, false]).map(String);
      return h("select", attributes, h("option", { value: "" }, "default" in schema ? `${schema.default} (default)` : "–"), among.map((/** @type {string} */ one) => h("option", { value: one, selected: one === given }, one)));
    }
    if (kind === "json") return h("textarea", { ...attributes, rows: given ? Math.min(8, given.split("\n").length) : 1, spellcheck: "false", placeholder: "JSON" }, given);
    const list = path.join(".") in this.suggestions ? `${id}-list` : null;
    return h("input", { ...attributes, type: "text", value: given, autocomplete: "off", inputmode: kind === "number" ? "decimal" : null, list });
  }

  /** @param {string[]} path @param {unknown} value */
  #give(path, value) {
    this.value = withAt(this.value, path, value) ?? {};
    this.changed(this.value);
  }
}

/** @param {string[]} path */
const idOf = (path) => `field-${path.join(".")}`;

/** @param {Schema} schema */
function defaultWords({ default: value }) {
  if (value === undefined || value === null || value === "") return "";
  if (Array.isArray(value)) return value.length ? `Default: ${value.join(", ")}.` : "";
  return typeof value === "object" ? "" : `Default: ${value}.`;
}
