/** What a run may start from: tasks, made of the scenarios that come with Plimsoll, and one's own database. */

/**
 * @typedef {{name: string, about: string, kind: string, requests: Record<string, any>, experiment: any}} Scenario
 * @typedef {{name: string, about: string, group: string, request?: any, experiment?: any}} Preset
 */

/** The groups, in their order. */
export const GROUPS = { again: "Again", first: "Try it", mine: "My own database", buy: "What to buy", more: "More questions", aws: "As studies had them, for AWS" };

/** The task of each scenario; one without a task goes by its file's name. @type {Record<string, [keyof typeof GROUPS, string]>} */
const TASKS = {
  "r1-demo": ["first", "Try it with MariaDB"],
  "pg-demo": ["first", "Try it with PostgreSQL"],
  "r1": ["buy", "Compare two volumes: 1,000 and 2,000 IOPS"],
  "boundary-demo": ["buy", "Find the cheapest of four volumes that carries a load"],
  "size-demo": ["buy", "Measure once, then ask what to buy"],
  "tpcc-demo": ["buy", "Compare two volumes for TPC-C's transactions"],
  "r2-demo": ["buy", "Compare three kinds of storage for Cassandra"],
  "cassandra-ring-demo": ["more", "What three copies of each row cost a Cassandra"],
  "r3-demo": ["more", "How long the phases of a batch job take"],
  "r4-demo": ["more", "What a feature gains: off and on in turns"],
  "r4-essd": ["more", "What a read cache gains on another cloud's volume"],
  "r5-demo": ["more", "How burst credits run out beside a batch job"],
  "canary": ["aws", "The smallest run that has an answer"],
  "r1-part-one": ["aws", "Two instance classes, four volumes, six workloads"],
  "r2": ["aws", "Four kinds of storage for Cassandra"],
  "r3": ["aws", "A batch job on two instance classes"],
  "r4": ["aws", "A feature off and on"],
  "r5": ["aws", "Burst credits beside a batch job"],
};

/** A request for a database that exists; its host is asked for. @param {string} engine @param {string} workload */
const mine = (engine, workload) => ({
  name: "mine", target: { kind: "endpoint", engine, host: "127.0.0.1", database: "scratch" },
  workload: { name: workload, records: 100_000 }, search: { strategy: "ramp" },
});

const OWN = "A database that you have, with an empty database in it. A deployment on AWS starts it here if it allows the address. On one machine save the file below and call: PLIMSOLL_USER=... PLIMSOLL_PASSWORD=... plimsoll run mine.yaml --local";

/** @type {Preset[]} */
const MINE = [
  { name: "My PostgreSQL", group: "mine", about: OWN, request: mine("postgres", "ycsb-b") },
  { name: "My MySQL", group: "mine", about: OWN, request: mine("mysql", "ycsb-b") },
  { name: "My MariaDB", group: "mine", about: OWN, request: mine("mariadb", "ycsb-b") },
];

/**
 * The presets, in the order of their groups: one for each run of a scenario, or its experiment. Pure.
 * @param {Scenario[]} scenarios
 * @returns {Preset[]}
 */
export function presetsOf(scenarios) {
  const order = Object.keys(TASKS);
  const rank = (/** @type {Scenario} */ { name }) => (order.includes(name) ? order.indexOf(name) : order.length);
  const made = [...scenarios].sort((a, b) => rank(a) - rank(b)).flatMap(({ name, about, kind, requests, experiment }) => {
    const [group, task] = TASKS[name] ?? ["first", name];
    if (kind === "experiment") return [/** @type {Preset} */ ({ name: task, group, about, experiment })];
    return Object.entries(requests).map(([run, request]) => ({ name: run === name ? task : `${task}: ${run}`, group, about, request }));
  });
  const all = [...made, ...MINE];
  return Object.keys(GROUPS).flatMap((group) => all.filter((preset) => preset.group === group));
}
