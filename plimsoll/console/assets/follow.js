/** A run's document, kept up to date: by the stream where there is one, else by asking again. */
import { joined, withSecond } from "./live.js";

const POINTS = 600; // bins that a whole run has, about: more than a screen shows
const BINS_MOST = 2 * POINTS; // beyond, a run that has grown is asked for anew, in wider bins

/**
 * @param {import("./service.js").Service} service
 * @param {string} id
 * @param {(live: import("./live.js").Live) => void} draw
 * @param {(live: import("./live.js").Live) => boolean} isOver
 * @param {AbortSignal} signal
 */
export async function followed(service, id, draw, isOver, signal) {
  /** @type {import("./live.js").Live | null} */
  let live = null;
  let waiting = false;
  const drawSoon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (live && !signal.aborted) draw(live);
    });
  };
  let outgrown = new AbortController();
  const take = (/** @type {any} */ more) => {
    live = joined(live, more);
    if (live.seconds.epoch_s.length > BINS_MOST || live.resources.epoch_s.length > BINS_MOST) outgrown.abort();
    drawSoon();
  };
  await service.keep(async () => {
    if (outgrown.signal.aborted) live = null; // what is drawn stays until it comes
    outgrown = new AbortController();
    const after = live?.cursor ?? null;
    if (service.config.events_path === null) {
      take(await service.get(`/runs/${encodeURIComponent(id)}/live?points=${POINTS}${after === null ? "" : `&after=${encodeURIComponent(after)}`}`, signal));
    } else {
      await service.stream(`run_id=${encodeURIComponent(id)}&points=${POINTS}`, after, ({ kind, data }) => {
        if (kind === "live") take(JSON.parse(data));
        if (kind === "second" && live) {
          live = withSecond(live, JSON.parse(data));
          drawSoon();
        }
      }, AbortSignal.any([signal, outgrown.signal])).catch((error) => {
        if (!outgrown.signal.aborted) throw error;
      });
    }
    return live === null || !isOver(live);
  }, signal, service.config.events_path === null ? service.config.poll_s : 1);
}
