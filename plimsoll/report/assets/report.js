// Draws the charts of the page; each chart's rows are named, and kept once, as columns.
(() => {
  const book = JSON.parse(document.getElementById("book").textContent);
  const GUTTER = 72; // the left axis, and a little air on the right
  const views = (window.plimsollViews = {});

  const rows = ({ names, rows }) =>
    rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));

  const draw = async (id) => {
    const { spec, data } = book.charts[id];
    const element = document.getElementById(id);
    const datasets = Object.fromEntries(data.map((name) => [name, rows(book.data[name])]));
    const drawn = { ...spec, datasets };
    if (spec.vconcat) {
      const width = Math.max(160, element.clientWidth - GUTTER);
      drawn.vconcat = spec.vconcat.map((panel) => ({ ...panel, width }));
    } else {
      drawn.autosize = { type: "fit-x", contains: "padding" };
    }
    views[id]?.finalize();
    views[id] = await vegaEmbed(element, drawn, {
      mode: "vega-lite",
      config: book.config,
      renderer: "svg",
      actions: false,
      ast: true,
      tooltip: { theme: "custom" },
    });
  };

  const stacked = Object.keys(book.charts).filter((id) => book.charts[id].spec.vconcat);
  let width = document.documentElement.clientWidth;
  let waiting;
  window.addEventListener("resize", () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => stacked.forEach(draw), 150);
  });
  window.plimsollDrawn = Promise.all(Object.keys(book.charts).map(draw));
})();
