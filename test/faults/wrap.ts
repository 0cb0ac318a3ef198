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

/** Every named method of a port counts as one call. */
export function countPort<T extends object>(
  points: CrashPoints,
  port: string,
  target: T,
  methods: readonly (keyof T & string)[],
): T {
  const counted = methods.map((name) => {
    const method: unknown = target[name];
    if (!isFunction(method)) throw new Error(`${port}.${name} is not a method`);
    return [name, (...args: unknown[]) => points.call(`${port}.${name}`, async () => method.apply(target, args))];
  });
  return overlay(target, Object.fromEntries(counted) as Record<string, AnyFunction>);
}

/** The pool and the clients it hands out: connecting and every statement, begin and commit included, count as calls. */
export function countPool(points: CrashPoints, pool: Pool, rewrite: Rewrite): Pool {
  const counting = <T extends { query: unknown }>(of: T): AnyFunction => {
    const { query } = of;
    if (!isFunction(query)) throw new Error("a pool without query");
    return (statement, ...rest) => {
      const asked =
        typeof statement === "string"
          ? rewrite(statement)
          : { ...(statement as { text: string }), text: rewrite((statement as { text: string }).text) };
      const text = typeof asked === "string" ? asked : asked.text;
      return points.call(labelOf(text), async () => query.call(of, asked, ...rest));
    };
  };
  return overlay(pool, {
    query: counting(pool),
    connect: () =>
      points.call("connect", async () => {
        const client = await pool.connect();
        return overlay(client, { query: counting(client) });
      }),
  });
}

/** The runtimes it leases count their calls, too. */
export function countRuntime(points: CrashPoints, runtime: RuntimePort): RuntimePort {
  return {
    lease: (request, signal) =>
      points.call("runtime.lease", async () =>
        countPort(points, "runtime", await runtime.lease(request, signal), ["render", "invoke", "release"]),
      ),
    close: () => runtime.close(),
  };
}

/** What is done under a claim knows its fence, so that the effect ledger learns which attempt called it. */
export const nameFence = (points: CrashPoints, leases: Leases): Leases => ({
  ...leases,
  hold: (kind, claim, work) => leases.hold(kind, claim, (signal) => points.holding(claim.fence, () => work(signal))),
});

/** Enough of a statement to know it by. */
const labelOf = (text: string): string => text.trim().replaceAll(/\s+/g, " ").slice(0, 60);
