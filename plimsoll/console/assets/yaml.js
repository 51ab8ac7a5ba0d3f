/** A request as YAML, for a file: plain data in, block style out. Pure. */

const PLAIN = /^[A-Za-z_][\w./-]*( [\w./-]+)*$/;
const WORDS = /^(true|false|null|yes|no|on|off|y|n|~)$/i;

/**
 * @param {unknown} value JSON data
 * @param {number} [indent]
 * @returns {string} with a line break at its end
 */
export function yaml(value, indent = 0) {
  const pad = " ".repeat(indent);
  if (Array.isArray(value) && isNested(value)) {
    return value.map((item) => `${pad}-${isNested(item) ? ` ${yaml(item, indent + 2).trimStart()}` : ` ${scalar(item)}\n`}`).join("");
  }
  if (isNested(value)) {
    return Object.entries(/** @type {object} */ (value))
      .map(([name, item]) => `${pad}${text(name)}:${isNested(item) ? `\n${yaml(item, indent + 2)}` : ` ${scalar(item)}\n`}`)
      .join("");
  }
  return `${pad}${scalar(value)}\n`;
}

/**
 * Whether a value takes lines of its own: what is empty, and a list of scalars, does not.
 * @param {unknown} value
 */
function isNested(value) {
  if (Array.isArray(value)) return value.some((item) => typeof item === "object" && item !== null);
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function scalar(value) {
  if (Array.isArray(value)) return `[${value.map(scalar).join(", ")}]`;
  if (typeof value === "string") return text(value);
  return typeof value === "object" && value !== null ? "{}" : String(value);
}

/** @param {string} value */
const text = (value) => (PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value));
