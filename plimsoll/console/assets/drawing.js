/**
 * A chart that the server of this page draws of what the page knows (`plimsoll/console/charts.py`),
 * as it draws those of the report. Here it is shown, drawn anew as more is known, and read.
 */
import { replaceCharts } from "./charts.js";
import { h } from "./dom.js";
import { Refusal, pause } from "./service.js";

const EVERY_S = 2;
const SHARE_LEAST = 50; // drawing takes at most a fiftieth of the time: a run may be measured there
const LONGEST_S = 30; // but what is seen is no older: a busy server may have been long in answering

/**
 * @param {import("./service.js").Service} service
 * @param {"curve" | "curves" | "timeline" | "history"} kind
 * @param {AbortSignal} signal comes when the view is left
 * @param {string} empty what stands there while nothing was measured
 * @returns {{element: HTMLElement, show: (known: unknown) => void}}
 */
export function drawing(service, kind, signal, empty) {
  const element = h("div", {});
  let [wanted, shown, busy] = ["", "", false];
  const draw = async () => {
    while (wanted !== shown && !signal.aborted) {
      const [asked, began] = [wanted, performance.now()];
      try {
        const { html, moments } = await service.draw(kind, asked, signal);
        replaceCharts(element, html ? parsed(html) : [h("p", { class: "empty" }, empty)], moments);
        shown = asked;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refusal && !error.passes && error.status !== 401) { // without its token, what was drawn stays
          replaceCharts(element, [h("p", { class: "problem" }, `This chart could not be drawn: ${error.message}.`)], {});
          shown = asked;
        }
      }
      const share_s = (SHARE_LEAST * (performance.now() - began)) / 1000;
      await pause(Math.min(LONGEST_S, Math.max(EVERY_S, share_s)), signal);
    }
  };
  return {
    element,
    show(known) {
      wanted = JSON.stringify(known);
      if (busy) return;
      busy = true;
      void draw().finally(() => (busy = false));
    },
  };
}

/**
 * What the server drew. It has written each text of a run as text, and a parser runs no script.
 * @param {string} html
 */
const parsed = (html) => [...new DOMParser().parseFromString(html, "text/html").body.childNodes];
