import type { Pool } from "../../../../src/core/db/pool.ts";
import type { WorkerCore } from "../../../../src/core/flow/core.ts";
import type { ChatSender, RuntimePort } from "../../../../src/core/ports.ts";
import type { Rewrite } from "../../wrap.ts";
import type { Stage } from "./stage.ts";

/** The same core, whose every call waits for its turn on the stage. */
export function gated(core: WorkerCore, stage: Stage, rewrite: Rewrite): WorkerCore {
  const { slack } = core.chats;
  return {
    ...core,
    pool: gatedPool(core.pool, stage, rewrite),
    runtime: gatedRuntime(core.runtime, stage),
    chats: slack ? { slack: gatedChat(slack, stage) } : {},
    model: {
      async step(request) {
        await stage.gate("the model is asked");
        return core.model.step(request);
      },
    },
    async ring(wakes) {
      if (wakes.length === 0) return;
      await stage.gate(`rings ${wakes.map((w) => w.kind).join(", ")}`);
      await core.ring(wakes);
    },
  };
}

/** Statements wait; a connection is there at once: which statement comes first is what matters. */
function gatedPool(pool: Pool, stage: Stage, rewrite: Rewrite): Pool {
  const waiting =
    (of: { query: unknown }) =>
    (statement: unknown, ...values: unknown[]): Promise<unknown> => {
      const query = typeof statement === "string" ? { text: statement } : (statement as { text: string });
      const text = rewrite(query.text);
      // A prepared statement that is another one now has no name of the first.
      const asked = text === query.text ? statement : { ...query, name: undefined, text };
      return stage.call(labelOf(text), () => Reflect.apply(of.query as () => Promise<unknown>, of, [asked, ...values]));
    };
  return replacing(pool, {
    query: waiting(pool),
    connect: async () => {
      const client = await pool.connect();
      return replacing(client, { query: waiting(client) });
    },
  });
}

const gatedRuntime = (runtime: RuntimePort, stage: Stage): RuntimePort => ({
  ...runtime,
  async lease(request, signal) {
    await stage.gate("leases a runtime");
    const leased = await runtime.lease(request, signal);
    return {
      ...leased,
      async render(of) {
        await stage.gate("renders");
        return leased.render(of);
      },
      async invoke(request) {
        await stage.gate(`calls ${request.entry}`);
        const result = await leased.invoke(request);
        await stage.gate(`hears of ${request.entry}`);
        return result;
      },
    };
  },
});

/**
 * No gate between a claim and its post: Slack has no key, so that one delivery is one message stands on the request
 * leaving within its lease (G5; `delivery.test.ts` tells what happens where it does not).
 */
const gatedChat = (chat: ChatSender, stage: Stage): ChatSender => ({
  ...chat,
  async send(outgoing) {
    const result = await chat.send(outgoing);
    await stage.gate("hears of its message");
    return result;
  },
  async find(outgoing) {
    await stage.gate("looks for its message");
    return chat.find(outgoing);
  },
});

/** `target` with these methods; the rest are called on the target itself. */
function replacing<T extends object>(target: T, methods: Readonly<Record<string, (...args: unknown[]) => unknown>>): T {
  return new Proxy(target, {
    get(of, name) {
      const method = typeof name === "string" ? methods[name] : undefined;
      if (method) return method;
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
}

/** Enough of a statement to know it by. */
const labelOf = (text: string): string => text.trim().replaceAll(/\s+/g, " ").slice(0, 70);
