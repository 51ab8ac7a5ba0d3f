/**
 * A request's JSON Schema as a form sees it: which kind of field each property is, and the values
 * that have been given. Pure.
 *
 * @typedef {Record<string, any>} Schema
 * @typedef {"union" | "group" | "choice" | "number" | "text" | "list" | "json"} Kind
 */

const UNITS = [
  [/_ops_per_second$/, "ops/s"], [/_mib_s$/, "MiB/s"], [/_gib$/, "GiB"], [/_usd$/, "$"], [/_us$/, "µs"], [/_ms$/, "ms"], [/_s$/, "s"],
];

/**
 * Put in what a `$ref` names; what stands beside it, such as a description, counts more.
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {Schema}
 */
export function resolved(schema, root) {
  if (schema.$ref) {
    const { $ref, ...beside } = schema;
    return resolved({ ...root.$defs[$ref.split("/").at(-1)], ...beside }, root);
  }
  const some = schema.anyOf?.filter((/** @type {Schema} */ one) => one.type !== "null");
  if (some?.length === 1) {
    const { anyOf: _, ...beside } = schema;
    const inner = resolved(some[0], root);
    return { ...inner, ...beside, nullable: true };
  }
  return schema;
}

/**
 * @param {Schema} schema resolved
 * @param {Schema} root
 * @returns {Kind}
 */
export function kindOf(schema, root) {
  if (schema.oneOf && schema.discriminator) return "union";
  if (schema.enum || schema.type === "boolean") return "choice";
  if (schema.type === "object") return schema.properties && !schema.nullable ? "group" : "json";
  if (schema.type === "integer" || schema.type === "number") return "number";
  if (schema.type === "array") return isScalar(resolved(schema.items ?? {}, root)) ? "list" : "json";
  return isScalar(schema) || schema.anyOf?.every(isScalar) ? "text" : "json";
}

/** @param {Schema} schema */
const isScalar = (schema) => ["string", "integer", "number", "null"].includes(schema.type);

/**
 * The variants of a union, by the value that chooses them.
 * @param {Schema} union
 * @param {Schema} root
 * @returns {Map<string, Schema>}
 */
export function variants(union, root) {
  return new Map(Object.entries(union.discriminator.mapping).map(([name, $ref]) => [name, resolved({ $ref }, root)]));
}

/**
 * What someone wrote into a field, as a value; undefined: nothing, so that the default holds. What
 * cannot be read is given on as it stands: the service says what is wrong with it.
 * @param {string} text
 * @param {Schema} schema resolved
 * @param {Kind} kind
 * @returns {unknown}
 */
export function read(text, schema, kind) {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (kind === "list") return trimmed.split(",").map((item) => scalar(item, schema.items));
  if (kind === "json") {
    try {
      return JSON.parse(trimmed);
    } catch {
      return trimmed;
    }
  }
  if (schema.type === "boolean") return trimmed === "true";
  return scalar(trimmed, schema);
}

/**
 * @param {string} text
 * @param {Schema} schema
 */
function scalar(text, schema) {
  const types = [schema?.type, ...(schema?.anyOf ?? []).map((/** @type {Schema} */ one) => one.type)];
  const numeric = types.includes("integer") || types.includes("number");
  return numeric && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text.trim();
}

/**
 * A value as it stands in its field.
 * @param {unknown} value
 * @param {Kind} kind
 */
export function written(value, kind) {
  if (value === undefined || (value === null && kind !== "json")) return "";
  if (kind === "list" && Array.isArray(value)) return value.join(", ");
  return kind === "json" && typeof value !== "string" ? JSON.stringify(value, null, 1) : String(value);
}

/**
 * @param {any} value
 * @param {string[]} path
 * @returns {any} undefined: it is not given
 */
export const at = (value, path) => path.reduce((inner, name) => inner?.[name], value);

/**
 * The same value with something else at a place; undefined takes it out.
 * @param {any} value
 * @param {string[]} path
 * @param {unknown} inner
 * @returns {any}
 */
export function withAt(value, [name, ...rest], inner) {
  if (name === undefined) return inner;
  const { [name]: before, ...others } = value ?? {};
  const after = withAt(before, rest, inner);
  const kept = value && name in value && after !== undefined ? { ...value, [name]: after } : after === undefined ? others : { ...others, [name]: after };
  return Object.keys(kept).length ? kept : undefined;
}

/** A property's name for people, its unit apart: `size_gib` is `Size, GiB`. @param {string} name */
export function labelOf(name) {
  const [suffix, unit] = UNITS.find(([pattern]) => /** @type {RegExp} */ (pattern).test(name)) ?? [];
  const words = (suffix ? name.replace(suffix, "") : name).replaceAll("_", " ").replace(/^iops/, "IOPS");
  return words.charAt(0).toUpperCase() + words.slice(1) + (unit ? `, ${unit}` : "");
}
