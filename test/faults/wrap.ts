import type { Pool } from "../../src/core/db/pool.ts";
import type { Leases } from "../../src/core/flow/leases.ts";
import type { RuntimePort } from "../../src/core/ports.ts";
import type { CrashPoints } from "./crashPoints.ts";

/** Changes the text of a statement before it is sent; the identity but where a mutation is tried. */
export type Rewrite = (text: string) => string;

type AnyFunction = (...args: unknown[]) => unknown;
const isFunction = (value: unknown): value is AnyFunction => typeof value === "function";

/** `target` with some of its methods replaced; the rest are called on the target itself. */
function overlay<T extends object>(target: T, replaced: Readonly<Record<string, AnyFunction>>): T {
  return new Proxy(target, {
    get(of, name) {
      const own = typeof name === "string" ? replaced[name] : undefined;
      if (own) return own;
      const value: unknown = Reflect.get(of, name, of);
      return isFunction(value) ? value.bind(of) : value;
    },
  });
}

/** Every named method of a port counts as one call; `quiet` are those that change nothing outside of the process. */
export function countPort<T extends object>(
  points: CrashPoints,
  port: string,
  target: T,
  methods: Readonly<Partial<Record<keyof T & string, "acts" | "quiet">>>,
): T {
  const counted = Object.entries(methods).map(([name, how]) => {
    const method: unknown = Reflect.get(target, name);
    if (!isFunction(method)) throw new Error(`${port}.${name} is not a method`);
    return [
      name,
      (...args: unknown[]) =>
        points.call(
          `${port}.${name}`,
          async () => method.apply(target, args),
          () => how === "quiet",
        ),
    ];
  });
  return overlay(target, Object.fromEntries(counted) as Record<string, AnyFunction>);
}

/**
 * The pool and the clients it hands out: connecting and every statement, begin and commit included, count as calls. The
 * sweep's lock idles on a connection from `lockPool`, so that what it does goes over one that knows its tables.
 */
export function countPool(points: CrashPoints, pool: Pool, lockPool: Pool, rewrite: Rewrite): Pool {
  const counting = <T extends { query: unknown }>(of: T): AnyFunction => {
    const { query } = of;
    if (!isFunction(query)) throw new Error("a pool without query");
    return (statement, ...rest) => {
      const asked =
        typeof statement === "string"
          ? rewrite(statement)
          : { ...(statement as { text: string }), text: rewrite((statement as { text: string }).text) };
      const text = typeof asked === "string" ? asked : asked.text;
      return points.call(labelOf(text), async () => query.call(of, asked, ...rest), changedNothing);
    };
  };
  return overlay(pool, {
    query: counting(pool),
    connect: () =>
      points.call(
        "connect",
        async () => {
          const locks = points.inside()?.flow === "sweep" && lockPool.idleCount === lockPool.totalCount;
          const client = await (locks ? lockPool : pool).connect();
          return overlay(client, { query: counting(client) });
        },
        () => true,
      ),
  });
}

/** The runtimes it leases count their calls, too. */
export function countRuntime(points: CrashPoints, runtime: RuntimePort): RuntimePort {
  return {
    lease: (request, signal) =>
      points.call(
        "runtime.lease",
        async () =>
          countPort(points, "runtime", await runtime.lease(request, signal), {
            render: "quiet",
            invoke: "acts",
            release: "quiet",
          }),
        () => true,
      ),
    close: () => runtime.close(),
  };
}

/** What is done under a claim knows its fence, so that the effect ledger learns which attempt called it. */
export const nameFence = (points: CrashPoints, leases: Leases): Leases => ({
  ...leases,
  hold: (kind, claim, work) => leases.hold(kind, claim, (signal) => points.holding(claim.fence, () => work(signal))),
});

/** No row was read, locked or changed; or a transaction began, or was undone. */
const changedNothing = (result: unknown): boolean => {
  const { command, rowCount } = result as { command?: string; rowCount?: number | null };
  return command === "BEGIN" || command === "ROLLBACK" || (rowCount === 0 && command !== "COMMIT");
};

/** Enough of a statement to know it by. */
const labelOf = (text: string): string => text.trim().replaceAll(/\s+/g, " ").slice(0, 60);
