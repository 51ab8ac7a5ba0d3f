/**
 * The service that the page calls: its REST API and its stream of events, with what happens when it
 * cannot be reached. `docs/api.md` and `docs/openapi.json` say what it answers.
 *
 * @typedef {object} Config
 * @property {string} api_url
 * @property {string | null} events_path null: the views ask again every `poll_s` instead
 * @property {"token" | "none" | "gateway"} auth
 * @property {boolean} may_start
 * @property {boolean} [may_stop]
 * @property {string | null} run_id
 * @property {boolean} [one_run] its list has one run alone
 * @property {number} poll_s
 * @property {string} version
 * @property {string} where
 *
 * @typedef {{field: string, detail: string, value: unknown, allowed: string[]}} Complaint
 * @typedef {object} Link tells whether the service is reached
 * @property {() => void} fine
 * @property {(why: string, againInS: number) => void} lost
 * @property {() => void} refused the token is wrong
 */
import { EventReader } from "./sse.js";

const SILENT_MOST_MS = 25_000; // a stream says every 10 s that it lives
const WAIT_MOST_S = 15;

/** An answer that says no: a problem document (RFC 9457). */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {{title?: string, detail?: string, message?: string, errors?: Complaint[]}} problem
   * @param {number} retryAfterS
   */
  constructor(status, problem, retryAfterS) {
    super(problem.detail || problem.message || problem.title || `the service answered ${status}`);
    this.status = status;
    this.retryAfterS = retryAfterS;
    this.complaints = problem.errors ?? [];
  }

  /** Whether the same call may be answered later. */
  get passes() {
    return this.status === 429 || this.status >= 500;
  }
}

/** Seconds to wait after so many failures: 1, 2, 4, 8, 15. @param {number} failures */
export const waitS = (failures) => Math.min(WAIT_MOST_S, 2 ** (failures - 1));

export class Service {
  /** @type {string | null} */
  token = null;

  /**
   * @param {Config} config
   * @param {Link} link
   */
  constructor(config, link) {
    this.config = config;
    this.link = link;
  }

  /**
   * @param {string} path
   * @param {AbortSignal} [signal]
   */
  get(path, signal) {
    return this.call("GET", path, { signal });
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {{body?: unknown, key?: string, signal?: AbortSignal}} [given] key: an idempotency key
   * @returns {Promise<any>} the answer's JSON; null: it has none
   * @throws {Refusal} the service says no
   * @throws {TypeError} it cannot be reached
   */
  async call(method, path, { body, key, signal } = {}) {
    const response = await this.#fetch(this.config.api_url + path, { method, signal, body: body === undefined ? undefined : JSON.stringify(body) }, {
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(key !== undefined && { "Idempotency-Key": key }),
    });
    const text = await response.text();
    return text ? JSON.parse(text) : null;
  }

  /**
   * Have the server of this page draw a chart.
   * @param {string} kind
   * @param {string} known what it is drawn of, as JSON
   * @param {AbortSignal} signal
   * @returns {Promise<{html: string, moments: import("./charts.js").Book}>}
   */
  async draw(kind, known, signal) {
    const response = await this.#fetch(`charts/${kind}`, { method: "POST", signal, body: known }, { "Content-Type": "application/json" });
    return response.json();
  }

  /**
   * Read a stream of events until it closes, or nobody looks at the page: each look at a run costs
   * the machine that is measured a little.
   * @param {string} query
   * @param {string | null} after the last event's id
   * @param {(event: import("./sse.js").StreamEvent) => void} take
   * @param {AbortSignal} signal
   */
  async stream(query, after, take, signal) {
    const ends = new AbortController();
    const silent = () => setTimeout(() => ends.abort(new TypeError("the service sent nothing for too long")), SILENT_MOST_MS);
    const unseen = () => document.hidden && ends.abort();
    let timer = silent();
    document.addEventListener("visibilitychange", unseen);
    try {
      const response = await this.#fetch(
        `${this.config.api_url}${this.config.events_path}?${query}`,
        { signal: AbortSignal.any([signal, ends.signal]) },
        after === null ? {} : { "Last-Event-ID": after },
      );
      const [reader, events] = [/** @type {ReadableStream<Uint8Array>} */ (response.body).getReader(), new EventReader()];
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        this.link.fine();
        clearTimeout(timer);
        timer = silent();
        events.take(decoder.decode(value, { stream: true })).forEach(take);
      }
    } catch (error) {
      if (!document.hidden) throw error;
    } finally {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", unseen);
    }
  }

  /**
   * @param {string} url
   * @param {RequestInit} init
   * @param {Record<string, string>} headers
   */
  async #fetch(url, init, headers) {
    const { auth } = this.config;
    if (auth === "token" && this.token) headers = { ...headers, Authorization: `Bearer ${this.token}` };
    const credentials = auth === "gateway" ? "same-origin" : "omit";
    const response = await fetch(url, { ...init, headers, credentials, cache: "no-store", redirect: "error" });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    if (response.status === 401) this.link.refused();
    throw new Refusal(response.status, problem ?? {}, Number(response.headers.get("Retry-After")) || 0);
  }

  /**
   * Do something again and again, until it says false or the signal comes. What fails is tried
   * again, ever later, and the page says so meanwhile.
   * @param {() => Promise<boolean | void>} attempt
   * @param {AbortSignal} signal
   * @param {number} [everyS]
   * @throws {Refusal} that does not pass, such as 404
   */
  async keep(attempt, signal, everyS = this.config.poll_s) {
    for (let failures = 0; !signal.aborted; ) {
      await seen(signal);
      try {
        const goesOn = await attempt();
        this.link.fine();
        failures = 0;
        if (goesOn === false) return;
        await pause(everyS, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refusal && !error.passes) throw error;
        failures += 1;
        const wait = Math.max(waitS(failures), error instanceof Refusal ? error.retryAfterS : 0);
        this.link.lost(error instanceof Refusal ? error.message : "", wait);
        await pause(wait, signal);
      }
    }
  }
}

/**
 * Wait until the page is looked at.
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export function seen(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const over = () => {
      document.removeEventListener("visibilitychange", over);
      signal.removeEventListener("abort", over);
      resolve();
    };
    document.addEventListener("visibilitychange", over);
    signal.addEventListener("abort", over);
  });
}

/**
 * Wait; less where the signal comes, or the browser finds the network again.
 * @param {number} seconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export function pause(seconds, signal) {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      removeEventListener("online", over);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, 1000 * seconds);
    addEventListener("online", over);
    signal.addEventListener("abort", over);
  });
}
