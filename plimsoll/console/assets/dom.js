/**
 * Elements are made here and nowhere else. Text is always a text node, never markup, and nothing
 * here sets an inline style: what runs bring cannot become part of the page.
 *
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, unknown>} Given attributes; `on...` are listeners; null, undefined and
 *   false are left out, true is an attribute without a value
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an HTML element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Given} [given]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, given, ...children) {
  return filled(document.createElement(tag), given, children);
}

/**
 * Make an element of a drawing.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Given} [given]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, given, ...children) {
  return filled(document.createElementNS(SVG, tag), given, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Given | undefined} given
 * @param {(Child | Child[])[]} children
 */
function filled(element, given, children) {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...nodes(children));
  return element;
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Make a place anew only where what it shows has changed: focus, selection and scrolling stay.
 * @template V
 * @param {Element} element
 * @param {(value: V) => Child | Child[]} make
 * @returns {(value: V) => void}
 */
export function place(element, make) {
  let shown = "";
  return (value) => {
    const now = JSON.stringify(value) ?? "";
    if (now === shown) return;
    shown = now;
    element.replaceChildren(...nodes([make(value)]));
  };
}

/**
 * Keep a list of elements, one for each item, and make anew only those whose item has changed.
 * @template V
 * @param {Element} parent
 * @param {(item: V) => string} key
 * @param {(item: V) => HTMLElement} make
 * @returns {(items: V[]) => void}
 */
export function list(parent, key, make) {
  /** @type {Map<string, {text: string, element: HTMLElement}>} */
  let kept = new Map();
  return (items) => {
    /** @type {typeof kept} */
    const next = new Map();
    const focused = document.activeElement;
    for (const item of items) {
      const text = JSON.stringify(item);
      const before = kept.get(key(item));
      next.set(key(item), before?.text === text ? before : { text, element: make(item) });
    }
    const wanted = [...next.values()].map(({ element }) => element);
    if (wanted.some((element, i) => parent.children[i] !== element) || parent.children.length !== wanted.length) {
      parent.replaceChildren(...wanted);
    }
    kept = next;
    if (focused?.id && !focused.isConnected) document.getElementById(focused.id)?.focus();
    else if (focused instanceof HTMLElement && focused.isConnected && focused !== document.activeElement) focused.focus();
  };
}

// figures begin with a digit, behind the sign of a bound, a prediction, a change or a currency
const FIGURE = /^$|^–$|^[~<>≤≥+$−-]*\s?\d(?!\d{3}-\d\d)/;
const MOMENT = /^$|^–$|^\d{4}-\d\d-\d\d/;

/**
 * How a column is set: figures to the right, moments and words to the left; only words break.
 * @param {Child[]} cells
 */
function columnKind(cells) {
  const texts = cells.map((cell) => (cell instanceof Node ? (cell.textContent ?? "") : String(cell ?? "")));
  if (texts.every((text) => FIGURE.test(text))) return null;
  return texts.every((text) => MOMENT.test(text)) ? "moment" : "text";
}

/**
 * A table with its headers, in a region that a keyboard can scroll.
 * @param {string} label
 * @param {Child[]} columns
 * @param {Child[][]} rows the first cell of each is its header
 * @param {string} [kind] a class
 */
export function table(label, columns, rows, kind = "") {
  const kinds = columns.map((_, i) => (i === 0 ? null : columnKind(rows.map((row) => row[i]))));
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": label, tabindex: 0 },
    h(
      "table",
      { class: kind },
      h("thead", {}, h("tr", {}, columns.map((column, i) => h("th", { scope: "col", class: kinds[i] }, column)))),
      h("tbody", {}, rows.map(([first, ...cells]) => h("tr", {}, h("th", { scope: "row" }, first), cells.map((cell, i) => h("td", { class: kinds[i + 1] }, cell))))),
    ),
  );
}

/**
 * Names with their values, as the report's facts.
 * @param {[string, Child | Child[]][]} pairs
 */
export function facts(pairs) {
  return h("dl", {}, pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}
