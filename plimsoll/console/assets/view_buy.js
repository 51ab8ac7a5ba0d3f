/** What to buy so that a load is carried: asked anew with every change of what is wanted. */
import { h, place } from "./dom.js";
import { href } from "./routes.js";
import { figureWords } from "./run_words.js";
import { Refusal } from "./service.js";
import { sizesSection } from "./sizes.js";
import * as words from "./words.js";

const ASK_AFTER_MS = 300; // the last change
const POSITIONS = 100; // of the slider
const LEAST_TIMES = 0.1; // of the run's own figure, where the slider begins
const MOST_TIMES = 100;
const WANTED_TIMES = 2; // what is asked about first
const FEW = 10; // targets, unless all are asked for
const ALL = 500;

/** A load of two figures: 1,234 is 1,200. @param {number} load */
const round = (load) => Number(load.toPrecision(2));

/** The load at a position of the slider, which is logarithmic. Pure. @param {number} position @param {number} figure the run's own */
export const loadAt = (position, figure) => round(figure * LEAST_TIMES * (MOST_TIMES / LEAST_TIMES) ** (position / POSITIONS));

/** The position of a load, 0 to 100. Pure. @param {number} load @param {number} figure */
export function positionOf(load, figure) {
  const position = Math.round((POSITIONS * Math.log(load / (figure * LEAST_TIMES))) / Math.log(MOST_TIMES / LEAST_TIMES));
  return Math.min(POSITIONS, Math.max(0, Number.isNaN(position) ? 0 : position));
}

/**
 * @param {import("./main.js").View} view
 */
export async function showBuy({ main, service, signal, id, query, say }) {
  const path = `/runs/${encodeURIComponent(id ?? "")}`;
  const run = await service.get(path, signal);
  const figure = run.capacity_ops_per_second || 1000;
  let most = FEW;
  let asking = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    asking.abort();
  });

  const want = number("want", query.get("want") ?? String(round(WANTED_TIMES * figure)), () => {
    slider.value = String(positionOf(Number(want.value), figure));
    changed();
  });
  const slider = h("input", { type: "range", id: "want-slider", min: 0, max: POSITIONS, value: positionOf(Number(want.value), figure), "aria-label": "Wanted, operations per second", "aria-describedby": "want-bad", oninput: () => {
    want.value = String(loadAt(Number(slider.value), figure));
    changed();
  } });
  const headroom = number("headroom", query.get("headroom") ?? "30", () => changed());
  const within = h("div", { class: "fields" });
  /** @type {Map<string, HTMLInputElement>} by operation; empty: the service has not said yet */
  const limitOf = new Map();
  const told = h("section", { "aria-label": "What to buy", "aria-busy": "true" }, h("p", { class: "note" }, "Loading what to buy …"));
  const show = place(told, (sizes) => sizesSection(sizes, { of: run, all: () => {
    most = ALL;
    void asked();
  } }));

  function changed() {
    clearTimeout(timer);
    timer = setTimeout(() => void asked(), ASK_AFTER_MS);
  }
  /** What is asked, as its address keeps it. @returns {[string, string][]} */
  function wishes() {
    const given = [...limitOf].map(([name, input]) => `${name}=${scaled(input.value, 1000)}`).join(",") || query.get("limits_us");
    return [["want", want.value], ["headroom", headroom.value], ...(given ? /** @type {[string, string][]} */ ([["limits_us", given]]) : [])];
  }
  async function asked() {
    asking.abort();
    asking = new AbortController();
    const { signal: ends } = asking;
    const now = wishes();
    slider.setAttribute("aria-valuetext", `${want.value} operations per second`);
    history.replaceState(null, "", href(`/buy/${id}`, now));
    told.setAttribute("aria-busy", "true");
    const sent = now.map(([name, value]) => [name, name === "headroom" ? scaled(value, 0.01) : value]);
    try {
      const sizes = await service.get(`${path}/sizes?${new URLSearchParams([...sent, ["limit", String(most)]])}`, ends);
      complain([]);
      if (!limitOf.size) fillLimits(sizes);
      show(sizes);
      say(sizes.sentence);
    } catch (error) {
      if (ends.aborted) return;
      if (error instanceof Refusal && error.status === 401) return;
      refused(error);
    }
    told.setAttribute("aria-busy", "false");
  }
  /** @param {unknown} error */
  function refused(error) {
    const complaints = error instanceof Refusal ? error.complaints : [];
    complain(complaints);
    const why = error instanceof Refusal ? error.message : "Plimsoll was not reached. Change something to ask again.";
    show(complaints.length ? { refused: "A field is not valid; it says why." } : { refused: `${words.capitalized(why.replace(/\.$/, ""))}.` });
  }
  /** @param {import("./service.js").Complaint[]} complaints */
  function complain(complaints) {
    for (const [name, ...inputs] of /** @type {[string, ...HTMLInputElement[]][]} */ ([["want", want], ["headroom", headroom], ["limits_us", ...limitOf.values()]])) {
      const mine = complaints.filter((complaint) => complaint.field === name).map((complaint) => complaint.detail);
      /** @type {HTMLElement} */ (document.getElementById(`${name}-bad`)).textContent = mine.join("; ");
      inputs.forEach((input) => (mine.length ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid")));
    }
  }
  /** @param {{limits_us: Record<string, number>, statistic: string}} sizes */
  function fillLimits({ limits_us: found, statistic }) {
    for (const [name, us] of Object.entries(found)) {
      const input = number(`limit-${name}`, String(Number((us / 1000).toPrecision(4))), () => changed(), "limits_us-bad");
      limitOf.set(name, input);
      within.append(field(`${name}, ${words.statistic(statistic)} at most, ms`, input));
    }
  }

  within.append(field("Headroom, % of the load line", headroom, h("p", { class: "bad", id: "headroom-bad" })));
  main.append(
    h("header", {},
      h("p", { class: "kicker" }, "What to buy"),
      h("h1", {}, run.name),
      h("p", { class: "under" }, "From what ", h("a", { href: href(`/runs/${id}`) }, "this run"), ` measured: ${run.target_words ?? "its target"} sustains ${figureWords(run)} ops/s.`)),
    h("form", { class: "card wishes", novalidate: true, "aria-label": "What is wanted", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      h("div", { class: "wanted" }, field("Wanted, ops/s", want, h("p", { class: "bad", id: "want-bad" })), slider),
      within,
      h("p", { class: "bad", id: "limits_us-bad" })),
    told,
  );
  await asked();
}

/**
 * @param {string} id
 * @param {string} value
 * @param {() => void} oninput
 * @param {string} [described]
 */
function number(id, value, oninput, described = `${id}-bad`) {
  return h("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", value, oninput, "aria-describedby": described });
}

/** @param {string} label @param {HTMLInputElement} input @param {...HTMLElement} under */
const field = (label, input, ...under) => h("div", { class: "field" }, h("label", { for: input.id }, label), input, ...under);

/** A number in another unit; what is none stays as it is: the service says what is wrong with it. @param {string} text @param {number} times */
const scaled = (text, times) => (text.trim() === "" || Number.isNaN(Number(text)) ? text : String(Number((Number(text) * times).toPrecision(12))));
