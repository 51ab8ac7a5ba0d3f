/**
 * A run as it goes on: what has come so far, joined with what comes. Pure.
 *
 * @typedef {(number | null)[]} Column
 * @typedef {object} Seconds bins of the measured seconds, by column
 * @property {number[]} epoch_s
 * @property {Column} step
 * @property {Column} ops_per_second
 * @property {Column} errors_per_second
 * @property {Record<string, Record<string, Column>>} operations
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
 * @property {Record<string, any[]>} resources
 * @property {any} caps
 * @property {{stages: {stage: string, at: string | null, text: string}[], gone: boolean}} teardown
 * @property {any} answer
 * @property {Second[]} [fresh] seconds of the step under way, provisional
 *
 * @typedef {object} Second one second as far as clients have told it
 * @property {number} step
 * @property {number} epoch_s
 * @property {Record<string, {succeeded: number, errors: number, p99_us: number | null}>} operations
 */

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
    resources: /** @type {Record<string, any[]>} */ (joinedColumns(known.resources, more.resources)),
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

/** Whether nothing more will come. @param {Live} live */
export function isOver({ run, answer, teardown }) {
  const torn = teardown.gone || teardown.stages.length === 0 || teardown.stages.some(({ stage }) => stage === "failed");
  return hasEnded(run.state) && torn && (answer !== null || run.verdict === null);
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
 * @param {Seconds} known
 * @param {Seconds} more
 * @returns {Seconds}
 */
function joinedSeconds({ operations: before, ...known }, { operations: after, ...more }) {
  const times = (/** @type {{epoch_s: number[]}} */ { epoch_s }) => ({ epoch_s });
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const operations = names.map((name) => {
    const { epoch_s: _, ...columns } = joinedColumns({ ...before[name], ...times(known) }, { ...after[name], ...times(more) });
    return [name, columns];
  });
  return /** @type {Seconds} */ ({ ...joinedColumns(known, more), operations: Object.fromEntries(operations) });
}

/**
 * Join columns by their moments; a bin that comes again replaces the one that was there.
 * @param {Record<string, any[]>} known with `epoch_s`
 * @param {Record<string, any[]>} more
 * @returns {Record<string, any[]>}
 */
function joinedColumns(known, more) {
  const where = [known, more].map(({ epoch_s: times }) => new Map(times.map((at, i) => [at, i])));
  const times = [...new Set([...known.epoch_s, ...more.epoch_s])].sort((a, b) => a - b);
  const names = [...new Set([...Object.keys(known), ...Object.keys(more)])];
  const value = (/** @type {string} */ name, /** @type {number} */ at) =>
    where[1].has(at) ? more[name]?.[where[1].get(at) ?? 0] : known[name]?.[where[0].get(at) ?? 0];
  return Object.fromEntries(names.map((name) => [name, times.map((at) => value(name, at) ?? null)]));
}
