/**
 * A run as it goes on: what has come so far, joined with what comes. Pure.
 *
 * @typedef {(number | null)[]} Column
 * @typedef {object} Seconds bins of the measured seconds, by column
 * @property {Column} epoch_s
 * @property {Column} step
 * @property {Column} ops_per_second
 * @property {Column} errors_per_second
 * @property {Record<string, Record<string, Column>>} operations
 * @typedef {{every_s: number, epoch_s: Column} & Record<string, Column>} Resources of the target
 *
 * @typedef {{step: number, window_start_epoch_ms: number | null, window_end_epoch_ms: number | null, [name: string]: any}} Step
 * @typedef {{id: string, at: string, text: string, problem: boolean}} LogLine
 * @typedef {object} Live
 * @property {string} cursor
 * @property {string} at
 * @property {number} every_s
 * @property {any} run
 * @property {any} plan
 * @property {any} time
 * @property {any} money
 * @property {LogLine[]} log
 * @property {string} statistic
 * @property {string} axis
 * @property {Record<string, number>} limits_us
 * @property {[number | null, number | null] | null} bracket
 * @property {any[]} loads
 * @property {Step[]} steps
 * @property {Seconds} seconds
 * @property {Resources} resources
 * @property {any} caps
 * @property {{stages: {stage: string, at: string | null, text: string}[], gone: boolean}} teardown
 * @property {any} answer
 * @property {Second[]} [fresh] seconds of the step under way, provisional
 *
 * @typedef {object} Second one second as far as clients have told it
 * @property {number} step
 * @property {number} epoch_s
 * @property {number} clients of the step
 * @property {number} clients_told of these, so far
 * @property {Record<string, {succeeded: number, errors: number, p99_us: number | null}>} operations
 */

const RESULT_PATIENCE_MS = 30_000;

/**
 * Join an increment to what is known.
 * @param {Live | null} known null: nothing yet
 * @param {Live} more
 * @returns {Live}
 */
export function joined(known, more) {
  if (known === null) return { ...more, fresh: [] };
  const done = new Set(more.steps.map((step) => step.step));
  return {
    ...more,
    log: byKey(known.log, more.log, (line) => line.id).sort((a, b) => a.at.localeCompare(b.at)),
    steps: byKey(known.steps, more.steps, (step) => String(step.step)),
    seconds: joinedSeconds(known.seconds, more.seconds),
    resources: joinedResources(known.resources, more.resources),
    fresh: (known.fresh ?? []).filter((second) => !done.has(second.step)),
  };
}

/**
 * Add a provisional second, unless its step has ended.
 * @param {Live} known
 * @param {Second} second
 * @returns {Live}
 */
export function withSecond(known, second) {
  if (known.steps.some((step) => step.step === second.step)) return known;
  return { ...known, fresh: byKey(known.fresh ?? [], [second], ({ epoch_s: at }) => String(at)) };
}

/**
 * What each operation does: in the last second that all clients have told, else in the last step.
 * Pure.
 * @param {Live} live
 * @returns {{since: string, operations: {name: string, ops: number | null, latency_us: number | null, errors: number | null}[]} | null}
 */
export function latestOf({ fresh = [], steps, plan, statistic }) {
  const second = fresh.findLast(({ clients, clients_told: told }) => told === clients);
  if (second) {
    const operations = Object.entries(second.operations).sort().map(([name, done]) => ({ name, ops: done.succeeded, latency_us: done.p99_us, errors: done.errors }));
    return { since: "now, p99", operations };
  }
  const step = steps.at(-1);
  if (!step || (plan && plan.step === 0)) return null;
  const operations = Object.entries(/** @type {Record<string, number | null>} */ (step.latency_us)).sort().map(([name, latency]) => ({ name, ops: null, latency_us: latency, errors: null }));
  return { since: `step ${step.step}, ${statistic === "p999" ? "p99.9" : statistic}`, operations };
}

/** Whether nothing more will come: its results may be late, or never come. @param {Live} live */
export function isOver({ run, answer, at }) {
  return hasEnded(run.state) && (answer !== null || Date.parse(at) - Date.parse(run.ended_at) > RESULT_PATIENCE_MS);
}

/** @param {string} state of a run or an experiment */
export const hasEnded = (state) => !["PENDING", "RUNNING", "STOPPING"].includes(state);

/**
 * @template T
 * @param {T[]} known
 * @param {T[]} more
 * @param {(item: T) => string} key
 * @returns {T[]}
 */
function byKey(known, more, key) {
  return [...new Map([...known, ...more].map((item) => [key(item), item])).values()];
}

/**
 * A step's seconds come with its end, all at once.
 * @param {Seconds} known
 * @param {Seconds} more
 * @returns {Seconds}
 */
function joinedSeconds(known, more) {
  const again = new Set(more.step);
  const keep = known.step.map((step) => !again.has(step));
  const { operations: before, ...columns } = known;
  const { operations: after, ...others } = more;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const operations = names.map((name) => [name, appended(before[name] ?? {}, keep, after[name] ?? {}, more.step.length)]);
  return /** @type {Seconds} */ ({ ...appended(columns, keep, others, more.step.length), operations: Object.fromEntries(operations) });
}

/**
 * The last bin of before may have been half full: it comes again.
 * @param {Resources} known
 * @param {Resources} more
 * @returns {Resources}
 */
function joinedResources({ every_s: _, ...known }, { every_s: everyS, ...more }) {
  const from = more.epoch_s[0] ?? Infinity;
  const keep = known.epoch_s.map((at) => /** @type {number} */ (at) < from);
  return /** @type {Resources} */ ({ every_s: everyS, ...appended(known, keep, more, more.epoch_s.length) });
}

/**
 * Put columns behind columns; one that either does not have is unknown there.
 * @param {Record<string, Column>} known
 * @param {boolean[]} keep which of its rows
 * @param {Record<string, Column>} more
 * @param {number} count of its rows
 * @returns {Record<string, Column>}
 */
function appended(known, keep, more, count) {
  const names = [...new Set([...Object.keys(known), ...Object.keys(more)])];
  return Object.fromEntries(
    names.map((name) => [
      name,
      [...keep.flatMap((kept, i) => (kept ? [known[name]?.[i] ?? null] : [])), ...(more[name] ?? Array(count).fill(null))],
    ]),
  );
}
