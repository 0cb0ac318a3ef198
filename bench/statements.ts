import pg from "pg";

/** What a flow cost the database. A statement outside `begin` … `commit` is a transaction of its own. */
export interface Cost {
  readonly transactions: number;
  /** Statements waited for, `begin` and `commit` among them. */
  readonly roundTrips: number;
}

export type Costs = Readonly<Record<string, Cost>>;

/**
 * A transaction belongs to the flow of the first of these statements in it, by its name. What matches none keeps its
 * own words, so that a new statement on a hot path shows up in the report.
 */
const FLOWS: readonly (readonly [flow: string, statements: RegExp])[] = [
  ["ingress", /^(take-message|record-received)$/],
  ["claim", /^claim-turn$/],
  ["read", /^(find-session|read-events|has-steers)$/],
  ["settle", /^settle-turn$/],
  ["step", /^append-events$/],
  ["deliver", /^(claim-next-delivery|mark-sent)$/],
  // Sweeps look for what is late, a limited number at a time.
  ["background", /^renew-turns$|advisory_(un)?lock|^delete from inbox|limit \$\d|lease_until </],
];

interface Unit {
  readonly statements: string[];
}

/** Counts what every connection of this process sends, BullMQ's among them, from when it is started. */
export function countStatements(): { start(): true; read(): Costs } {
  let units: Unit[] = [];
  let counting = false;
  const open = new WeakMap<object, Unit>();

  function note(client: object, name: string): void {
    const begun = open.get(client);
    if (begun) {
      begun.statements.push(name);
      if (/^(commit|rollback)$/.test(name)) open.delete(client);
      return;
    }
    const unit = { statements: [name] };
    units.push(unit);
    if (/^begin/.test(name)) open.set(client, unit);
  }

  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: object, ...args: unknown[]) {
    if (counting) note(this, nameOf(args[0]));
    return Reflect.apply(query, this, args);
  } as typeof query;

  return {
    start() {
      units = [];
      counting = true;
      return true;
    },
    read: () => sum(units),
  };
}

function nameOf(config: unknown): string {
  if (typeof config === "string") return words(config);
  const { name, text } = config as { name?: unknown; text?: unknown };
  return typeof name === "string" ? name : words(String(text));
}

const words = (text: string): string => text.replace(/\s+/g, " ").trim().toLowerCase();

function sum(units: readonly Unit[]): Costs {
  const costs: Record<string, Cost> = {};
  for (const { statements } of units) {
    const flow = flowOf(statements);
    const { transactions, roundTrips } = costs[flow] ?? { transactions: 0, roundTrips: 0 };
    costs[flow] = { transactions: transactions + 1, roundTrips: roundTrips + statements.length };
  }
  return costs;
}

function flowOf(statements: readonly string[]): string {
  const known = FLOWS.find(([, pattern]) => statements.some((name) => pattern.test(name)));
  return known?.[0] ?? (statements.find((name) => name !== "begin") ?? "begin").slice(0, 60);
}
