// What the pointer, a finger or the arrow keys are told: of a mark its title, of a moment of the run
// every series of the panel. The charts themselves are in the page, and need none of this.
(() => {
  const book = JSON.parse(document.getElementById("book").textContent);
  const create = (name, text = "") => Object.assign(document.createElement(name), { textContent: text });
  const tip = Object.assign(create("dl"), { id: "tip", hidden: true });
  tip.setAttribute("role", "status");
  document.body.append(tip);

  // the browser's own print makes the PDF: the page has a layout for paper
  const pdf = Object.assign(create("button", "Save as PDF"), { id: "pdf", type: "button" });
  pdf.addEventListener("click", () => print());
  document.querySelector("header").prepend(pdf);

  // titles are what browsers show by themselves: here they are shown at once, and on a telephone
  const told = new WeakMap();
  for (const title of document.querySelectorAll("[data-panel] title")) {
    const lines = title.textContent.split("\n").map((line) => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)];
    });
    title.parentElement.dataset.told = "";
    told.set(title.parentElement, lines);
    title.remove();
  }

  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  const clock = (t, hours) =>
    hours
      ? `${Math.floor(t / 3600)}:${two((t % 3600) / 60)}:${two(t % 60)}`
      : `${Math.floor(t / 60)}:${two(t % 60)}`;

  const stepAt = (steps, t) => {
    const step = steps.find(([, start, , end]) => start <= t && t < end);
    if (!step) return "–";
    return t < step[2] ? `${step[0]}, warm-up` : String(step[0]);
  };

  const when = (chart, t) => [
    [`at, ${chart.hours ? "h:min:s" : "min:s"}`, clock(t, chart.hours)],
    ["step", stepAt(chart.steps, t)],
  ];

  // all series at a moment; null where nothing was measured
  const moment = (chart, panel, t) => {
    const next = panel.moments.findIndex((start) => start > t);
    const i = next < 0 ? panel.moments.length - 1 : next - 1;
    if (i < 0 || t >= panel.moments[i] + panel.width_s) return null;
    const format = { minimumFractionDigits: panel.digits, maximumFractionDigits: panel.digits };
    const series = Object.entries(panel.series)
      .filter(([, values]) => values[i] !== null)
      .map(([title, values]) => [title, values[i].toLocaleString("en-US", format)]);
    return [...when(chart, panel.moments[i]), ...series];
  };

  // the row of a heat map at a share of its height, from the top
  const row = ({ rows, low_us, high_us }, share) => {
    const up = Math.ceil(rows * Math.log2(low_us * (high_us / low_us) ** (1 - share)));
    const whole = (us) => Math.round(us).toLocaleString("en-US");
    return [
      ["over, µs", whole(2 ** ((up - 1) / rows))],
      ["up to, µs", whole(2 ** (up / rows))],
    ];
  };

  const show = (lines, x, y) => {
    tip.replaceChildren(...lines.flatMap(([name, text]) => [create("dt", name), create("dd", text)]));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + 16 + width < innerWidth ? x + 16 : x - 16 - width;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 16, innerHeight - height - 4))}px`;
  };

  const hairs = () => document.querySelectorAll(".hair");
  const hide = () => {
    tip.hidden = true;
    for (const hair of hairs()) hair.remove();
  };

  // one moment, marked in all panels of its chart
  const mark = (figure, share) => {
    for (const hair of hairs()) hair.remove();
    for (const plot of figure.querySelectorAll("[data-panel]")) {
      const hair = document.createElementNS("http://www.w3.org/2000/svg", "line");
      const place = `${100 * share}%`;
      const attributes = { class: "hair", x1: place, x2: place, y2: plot.getAttribute("height") };
      for (const [name, value] of Object.entries(attributes)) hair.setAttribute(name, value);
      plot.append(hair);
    }
  };

  const at = (plot, target, x, y) => {
    const figure = plot.closest("figure");
    const chart = book[figure.id];
    const panel = chart?.panels[plot.dataset.panel];
    const box = plot.getBoundingClientRect();
    const share = (x - box.left) / box.width;
    const t = share * chart?.length_s;
    const lines = told.get(target.closest("[data-told]"));
    const within = panel && share >= 0 && share < 1;
    if (within) mark(figure, share);
    const all = within && panel.series ? moment(chart, panel, t) : lines;
    const place = () => [...when(chart, t), ...row(panel, (y - box.top) / box.height)];
    if (!all) tip.hidden = true;
    else show(within && panel.rows ? [...place(), ...all] : all, x, y);
  };

  const pointed = ({ target, clientX, clientY }) => {
    const plot = target.closest?.("[data-panel]");
    if (plot) at(plot, target, clientX, clientY);
    else hide();
  };
  document.addEventListener("pointermove", pointed);
  document.addEventListener("pointerdown", pointed);
  document.addEventListener("scroll", hide, { passive: true });

  // the arrow keys go from mark to mark, or from moment to moment
  for (const plot of document.querySelectorAll("[data-panel]")) {
    const chart = book[plot.closest("figure").id];
    const panel = chart?.panels[plot.dataset.panel];
    const marks = [...plot.querySelectorAll("[data-told]")];
    const stops = panel?.moments ?? (panel?.rows ? [] : marks);
    let stop = -1;
    plot.tabIndex = 0;
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!by || !stops.length) return;
      event.preventDefault();
      stop = Math.min(stops.length - 1, Math.max(0, stop + by));
      const box = plot.getBoundingClientRect();
      if (panel?.moments) {
        const middle = stops[stop] + panel.width_s / 2;
        at(plot, plot, box.left + (middle / chart.length_s) * box.width, box.top);
      } else {
        const spot = marks[stop].getBoundingClientRect();
        at(plot, marks[stop], spot.left + spot.width / 2, spot.top + spot.height / 2);
      }
    });
  }
})();
