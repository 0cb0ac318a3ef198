import { expect, it } from "vitest";
import type { Wake } from "../../src/core/ports.ts";
import { createDependency } from "../../src/gateway/dependency.ts";
import { createRing } from "../../src/gateway/ring.ts";
import { silentLog } from "../helpers/log.ts";

const WAKE: Wake = { kind: "turn", id: "ses_1" };

function setting(options: { own: boolean }) {
  const queued: Wake[] = [];
  const handled: Wake[] = [];
  let [away, calls] = [false, 0];
  const queue = {
    wake: async (wakes: readonly Wake[]) => {
      calls++;
      if (away) throw new Error("away");
      queued.push(...wakes);
    },
  };
  const ping = async () => {
    if (away) throw new Error("away");
  };
  const state = createDependency({ name: "queue", required: false, check: ping }, silentLog);
  const own = options.own ? { wake: async (wakes: readonly Wake[]) => void handled.push(...wakes) } : null;
  const ring = createRing({ queue, state, own, log: silentLog });
  return { queued, handled, state, ring, calls: () => calls, goAway: (gone: boolean) => (away = gone) };
}

it("14 what the queue does not take is handled here, and nobody waits for it to say so twice", async () => {
  const s = setting({ own: true });
  await s.ring([WAKE]);
  s.goAway(true);
  for (let i = 0; i < 3; i++) await s.ring([WAKE]);
  expect([s.queued, s.handled, s.calls()]).toEqual([[WAKE], [WAKE, WAKE, WAKE], 2]);
});

it("14 goes back to the queue once that was seen to answer", async () => {
  const s = setting({ own: true });
  s.goAway(true);
  await s.ring([WAKE]);
  s.goAway(false);
  await expect.poll(async () => (await s.state.read()).state).toBe("up");
  await s.ring([WAKE]);
  expect([s.queued.length, s.handled.length]).toEqual([1, 1]);
});

it("14 in a gateway it is left to the sweepers, and nothing fails", async () => {
  const s = setting({ own: false });
  s.goAway(true);
  await s.ring([WAKE]);
  expect([s.queued, s.handled]).toEqual([[], []]);
});

it("is not kept from a queue that takes wakes by a probe that was slow", async () => {
  const s = setting({ own: false });
  s.state.failed(new Error("no answer within 800 ms"));
  await s.ring([WAKE]);
  expect(s.queued).toEqual([WAKE]);
});

it("asks nobody for nothing", async () => {
  const s = setting({ own: true });
  await s.ring([]);
  expect(s.calls()).toBe(0);
});
