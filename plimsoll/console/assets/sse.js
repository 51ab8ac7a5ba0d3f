/**
 * Server-sent events, read from a body that comes in pieces: `EventSource` cannot send a token.
 * Pure. https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 *
 * @typedef {{kind: string, id: string | null, data: string}} StreamEvent
 */
export class EventReader {
  #rest = "";

  /**
   * Take a piece; comments (`: alive`) are no events.
   * @param {string} piece
   * @returns {StreamEvent[]} what it completed
   */
  take(piece) {
    const blocks = (this.#rest + piece).split(/\r\n\r\n|\n\n|\r\r/);
    this.#rest = blocks.pop() ?? "";
    return blocks.map(eventOf).filter((event) => event !== null);
  }
}

/**
 * @param {string} block
 * @returns {StreamEvent | null}
 */
function eventOf(block) {
  /** @type {Record<string, string[]>} */
  const fields = {};
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, name, value] = /^([a-z]+):? ?(.*)$/.exec(line) ?? [];
    if (name) (fields[name] ??= []).push(value ?? "");
  }
  if (!fields.data) return null;
  return { kind: fields.event?.at(-1) ?? "message", id: fields.id?.at(-1) ?? null, data: fields.data.join("\n") };
}
