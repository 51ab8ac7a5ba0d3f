/**
 * How figures are written: the rules of `plimsoll/words.py`, which a test holds these against.
 * What is not known is a dash, never 0.
 */

export const NOTHING = "–";

const SIGNS = { "=": "", ">=": "≥ ", "<": "< ", "<=": "≤ " };

/** @typedef {number | null | undefined} Maybe */

/**
 * @param {number} value
 * @param {number} decimals
 */
const fixed = (value, decimals) => {
  const [whole, fraction] = value.toFixed(decimals).split("."); // rounds the number itself, as Python does
  return Number(whole).toLocaleString("en-US") + (fraction ? `.${fraction}` : "");
};

/** @param {number} value */
const threeFigures = (value) => {
  const size = Math.abs(value);
  return fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
};

/**
 * A latency: `26 µs`, `8.92 ms`, `1.20 s`.
 * @param {Maybe} us microseconds
 */
export function latency(us) {
  if (us === null || us === undefined) return NOTHING;
  if (us >= 0.9995e6) return `${threeFigures(us / 1e6)} s`;
  if (us >= 0.9995e3) return `${threeFigures(us / 1e3)} ms`;
  return `${fixed(us, 0)} µs`;
}

/**
 * A length of time: `45 s`, `2 min 5 s`, `1 h 5 min`.
 * @param {Maybe} seconds
 */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return NOTHING;
  const whole = Math.round(seconds);
  if (whole < 60) return `${Number(seconds.toPrecision(3))} s`;
  const minutes = Math.round(seconds / 60);
  const parts =
    whole < 3600
      ? [[Math.floor(whole / 60), "min"], [whole % 60, "s"]]
      : [[Math.floor(minutes / 60), "h"], [minutes % 60, "min"]];
  return parts.filter(([amount]) => amount).map((part) => part.join(" ")).join(" ");
}

/**
 * A rate or a mean, without its unit: `5,600`, `99.9`, `0`.
 * @param {Maybe} value
 */
export function rate(value) {
  if (value === null || value === undefined) return NOTHING;
  return fixed(value, value >= 99.95 || value === 0 ? 0 : 1);
}

/**
 * What was counted or given: six figures, no exponent.
 * @param {Maybe} value
 */
export function number(value) {
  if (value === null || value === undefined) return NOTHING;
  const shown = Math.abs(value) >= 99_999.5 ? Math.round(value) : Number(value.toPrecision(6));
  return shown.toLocaleString("en-US", { maximumFractionDigits: 12 });
}

/**
 * A figure with the sign of its bound: `5,600`, `≥ 5,600`.
 * @param {string} text
 * @param {string | null | undefined} bound
 */
export const bounded = (text, bound) => SIGNS[/** @type {keyof SIGNS} */ (bound ?? "=")] + text;

/** A multiple: `1.70`. @param {Maybe} value */
export const ratio = (value) => (value === null || value === undefined ? NOTHING : fixed(value, 2));

/** A monthly price in three figures: `$3,690`. @param {Maybe} dollars */
export const usdAMonth = (dollars) => (dollars === null || dollars === undefined ? NOTHING : dollars < 100 ? `$${Number(dollars.toPrecision(3))}` : `$${fixed(Number(dollars.toPrecision(3)), 0)}`);

/** A sum of money: `$0.19`. @param {Maybe} dollars */
export const usd = (dollars) => (dollars === null || dollars === undefined ? NOTHING : `$${fixed(dollars, 2)}`);

/**
 * A share in percent: `15.2 %`, `44 %`.
 * @param {Maybe} share
 */
export function percent(share) {
  if (share === null || share === undefined) return NOTHING;
  const text = threeFigures(100 * share);
  return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text} %`;
}

/** @param {number} count @param {string} noun */
export const plural = (count, noun) => `${count.toLocaleString("en-US")} ${count === 1 ? noun : `${noun}s`}`;

/** A statistic by its usual name. @param {string} name */
export const statistic = (name) => (name === "p999" ? "p99.9" : name);

/** A load on the axis of a search: `3 clients`. @param {Maybe} value @param {string} axis */
export function load(value, axis) {
  if (value === null || value === undefined) return NOTHING;
  if (axis === "rate_ops_per_second") return `${number(value)} ops/s offered`;
  return `${number(value)} ${value === 1 ? axis.replace(/s$/, "") : axis}`;
}

/** A moment, of which the page's reader knows the zone: `2026-03-02 10:00:00 UTC`. @param {string | null | undefined} at ISO 8601 */
export function moment(at) {
  return at ? `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC` : NOTHING;
}

/** The time of a moment's day: `10:00:00 UTC`. @param {string | number} at */
export const timeOfDay = (at) => `${new Date(at).toISOString().slice(11, 19)} UTC`;

/** Words with a capital at their beginning. @param {string} text */
export const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** When a check runs: `every day`, `every 6 hours`; of cron as it is written. @param {string} expression of the Scheduler */
export const schedule = (expression) => expression.replace(/^rate\((\d+) (\w+?)s?\)$/, (_, count, unit) => (count === "1" ? `every ${unit}` : `every ${count} ${unit}s`));
