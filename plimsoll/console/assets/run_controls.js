/** What can be done with a run: stop it, which is asked once, and open its report. */
import { h } from "./dom.js";
import { hasEnded } from "./live.js";
import { Refusal, pause, seen, waitS } from "./service.js";

const LINK_LASTS_S = 240; // of the 300 s that a report's link holds
const ASK_EVERY_S = 2;
const ASK_MOST = 30; // times: a report that is not there by then is not drawn

/**
 * @param {import("./service.js").Service} service
 * @param {string} id
 */
export function stopControl(service, id) {
  const said = h("span", { class: "note", role: "status" });
  const dialog = h(
    "dialog",
    { "aria-labelledby": "stop-asks" },
    h("p", { id: "stop-asks" }, "Stop this run? Its target is deleted, what it measured stays."),
    h("form", { method: "dialog", class: "bar" },
      h("button", { type: "submit", value: "no", class: "quiet" }, "Go on"),
      h("button", { type: "submit", value: "stop", class: "danger" }, "Stop the run")),
  );
  const button = h("button", { type: "button", class: "danger", onclick: () => {
    dialog.returnValue = "";
    dialog.showModal();
  } }, "Stop");
  dialog.addEventListener("close", async () => {
    if (dialog.returnValue !== "stop") return;
    button.disabled = true;
    said.textContent = "Requesting the stop.";
    try {
      await service.call("DELETE", `/runs/${encodeURIComponent(id)}`);
      said.textContent = "Stop requested.";
    } catch (error) {
      button.disabled = false;
      said.textContent = error instanceof Refusal ? error.message : "Plimsoll was not reached, so the stop may not have been requested. Press Stop again.";
    }
  });
  const element = h("span", { hidden: true }, button, " ", said, dialog);
  return {
    element,
    /** @param {any} run */
    show(run) {
      element.hidden = hasEnded(run.state) || service.config.may_stop === false;
      if (run.state === "STOPPING") button.disabled = true;
    },
  };
}

/**
 * A link to the report, which is drawn right after a run's end; it holds some minutes, and is made
 * anew while the page shows it and somebody looks at that.
 * @param {import("./service.js").Service} service
 * @param {string} id
 * @param {AbortSignal} signal
 */
export function reportLink(service, id, signal) {
  const anchor = h("a", { class: "button", target: "_blank", rel: "noopener noreferrer" }, "Open the report");
  const element = h("span", { hidden: true }, anchor);
  let asked = false;
  const keepLink = async () => {
    for (let [asks, failures] = [1, 0]; !signal.aborted; asks += 1) {
      const late = asks > ASK_MOST;
      await seen(signal);
      try {
        const { url, result_url: result } = await service.get(`/runs/${encodeURIComponent(id)}/report`, signal);
        anchor.href = url ?? result;
        anchor.textContent = url ? "Open the report" : "Open result.json";
        element.hidden = false;
        failures = 0;
        await pause(url || late ? LINK_LASTS_S : ASK_EVERY_S, signal);
      } catch (error) {
        if (signal.aborted) return;
        const refused = error instanceof Refusal;
        if (refused && !error.passes && (late || error.status !== 404)) return;
        failures += 1;
        const drawing = refused && error.status === 404;
        await pause(drawing ? ASK_EVERY_S : Math.max(waitS(failures), refused ? error.retryAfterS : 0), signal);
      }
    }
  };
  return {
    element,
    /** @param {any} run */
    show(run) {
      if (asked || !hasEnded(run.state) || run.verdict === null || service.config.run_id) return;
      asked = true;
      void keepLink();
    },
  };
}
