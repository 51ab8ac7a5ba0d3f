/**
 * Addresses within the page, in its fragment: `#/runs`, `#/runs/ID`, `#/compare?run=A&run=B`. Pure.
 */

/**
 * @param {string} path begins with a slash
 * @param {string[][]} [query]
 */
export const href = (path, query = []) => `#${path}${query.length ? `?${new URLSearchParams(query)}` : ""}`;

/**
 * What an address asks for: the name of a view, what it is of, and what else.
 * @param {string} fragment with or without its `#`
 * @returns {{name: string, id: string | null, query: URLSearchParams}}
 */
export function routeOf(fragment) {
  const [path, query] = fragment.replace(/^#?\/?/, "").split("?", 2);
  const [name, id] = path.split("/", 2);
  return { name: name || "runs", id: id ? decoded(id) : null, query: new URLSearchParams(query) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The token that a fragment brings; null: none. @param {string} fragment */
export const tokenIn = (fragment) => new URLSearchParams(fragment.replace(/^#?\/?/, "")).get("token");
