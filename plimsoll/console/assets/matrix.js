/**
 * An experiment's cells as rows and columns, with the class of each figure. Pure.
 *
 * @typedef {{name: string, variants: Record<string, string>, run_id: string, state: string | null, figure: number | null, bound: string | null, verdict: string | null}} Cell
 * @typedef {{axis: string, columns: string[], rows: {name: string, cells: (Cell | null)[]}[]}} Matrix
 */

export const CLASSES = 7;

/**
 * The cells as an experiment's record has them, with the bounds of its result where that is there.
 * @param {any[]} cells
 * @param {any} result null: it has not ended
 * @returns {Cell[]}
 */
export function cellsOf(cells, result) {
  return cells.map((cell) => {
    const outcome = result?.cells.find((/** @type {any} */ one) => one.run_id === cell.run_id);
    const recorded = cell.capacity_ops_per_second === null ? null : Number(cell.capacity_ops_per_second);
    return { ...cell, figure: outcome ? outcome.figure_ops_per_second : recorded, bound: (outcome ?? cell).bound ?? null };
  });
}

/**
 * The axis with the most variants goes across, the others down, in their order.
 * @param {Cell[]} cells
 * @returns {Matrix}
 */
export function matrixOf(cells) {
  const axes = Object.keys(cells[0]?.variants ?? {});
  const among = (/** @type {string} */ axis) => [...new Set(cells.map((cell) => cell.variants[axis]))];
  const axis = axes.reduce((most, one) => (among(one).length > among(most).length ? one : most), axes[0]);
  const columns = among(axis);
  const down = (/** @type {Cell} */ cell) => axes.filter((one) => one !== axis).map((one) => cell.variants[one]).join(", ") || "all";
  const rows = [...new Set(cells.map(down))].map((name) => ({
    name,
    cells: columns.map((column) => cells.find((cell) => down(cell) === name && cell.variants[axis] === column) ?? null),
  }));
  return { axis, columns, rows };
}

/**
 * The class of a figure, 1 to 7: equal factors between the least and the most.
 * @param {number} figure
 * @param {number[]} all
 */
export function classOf(figure, all) {
  const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  if (!(low > 0) || high === low) return figure > 0 ? Math.ceil(CLASSES / 2) : 1;
  return Math.min(CLASSES, 1 + Math.floor((CLASSES * Math.log(figure / low)) / Math.log(high / low)));
}
