/** Where values lie on an axis, and where it has its ticks. Pure. */

const SPANS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200];

/**
 * @typedef {{at: (value: number) => number, back: (pixel: number) => number, ticks: number[]}} Scale
 */

/**
 * A linear scale with round ticks.
 * @param {[number, number]} domain
 * @param {[number, number]} range in pixels
 * @param {number} [most] ticks at most
 * @returns {Scale}
 */
export function linear([low, high], [from, to], most = 5) {
  const span = high - low || 1;
  return {
    at: (value) => from + ((value - low) / span) * (to - from),
    back: (pixel) => low + ((pixel - from) / (to - from)) * span,
    ticks: roundTicks(low, high, most),
  };
}

/**
 * A logarithmic scale with ticks at 1, 2 and 5 times powers of ten; by ten alone where it is long.
 * @param {[number, number]} domain both above 0
 * @param {[number, number]} range in pixels
 * @param {number} [most]
 * @returns {Scale}
 */
export function logarithmic([low, high], [from, to], most = 6) {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  const inner = linear([a, b], [from, to]);
  const decades = Array.from({ length: Math.ceil(b) - Math.floor(a) + 1 }, (_, i) => Math.floor(a) + i);
  const ticks = [[1, 2, 5], [1]].map((factors) =>
    decades.flatMap((d) => factors.map((f) => f * 10 ** d)).filter((tick) => tick >= low && tick <= high),
  );
  return {
    at: (value) => inner.at(Math.log10(value)),
    back: (pixel) => 10 ** inner.back(pixel),
    ticks: ticks[0].length <= most ? ticks[0] : ticks[1].length > 1 ? ticks[1] : ticks[0],
  };
}

/**
 * Round values between two ends: 1, 2 or 5 times a power of ten apart.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
export function roundTicks(low, high, most) {
  const rough = (high - low) / most;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/**
 * Ticks of a time axis from 0, at round times.
 * @param {number} length in seconds
 * @param {number} [most]
 */
export function timeTicks(length, most = 10) {
  const step = SPANS_S.find((span) => length / span <= most) ?? 86_400 * Math.ceil(length / 86_400 / most);
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, i) => i * step);
}

/**
 * A domain around values, from 0 on, with room above.
 * @param {(number | null | undefined)[]} values
 * @param {number} [room]
 * @returns {[number, number]}
 */
export function fromZero(values, room = 1.08) {
  return [0, room * (greatest(values) ?? 0) || 1];
}

/**
 * A domain around positive values for a logarithmic axis; null: there are none.
 * @param {(number | null | undefined)[]} values
 * @param {number} [room] a factor
 * @returns {[number, number] | null}
 */
export function around(values, room = 1.25) {
  const known = positive(values);
  if (!known.length) return null;
  const low = known.reduce((a, b) => Math.min(a, b));
  return [low / room, (greatest(known) ?? low) * room];
}

/** @param {(number | null | undefined)[]} values */
function greatest(values) {
  const known = positive(values);
  return known.length ? known.reduce((a, b) => Math.max(a, b)) : null;
}

/**
 * @param {(number | null | undefined)[]} values
 * @returns {number[]}
 */
function positive(values) {
  return /** @type {number[]} */ (values.filter((value) => value !== null && value !== undefined && value > 0));
}
