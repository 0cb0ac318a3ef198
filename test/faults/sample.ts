import { expect } from "vitest";
import { pairs, pauses, singles, singlesOf } from "./cases.ts";
import { judge, openSweep } from "./sweep.ts";

/** Every so manieth of each kind; prime, so that no part of a flow is always passed over. */
const EVERY_SINGLE = 97;
const EVERY_PAIR = 17;

const everyNth = <T>(list: readonly T[], n: number): T[] => list.filter((_, i) => i % n === 0);

/** A sample of the sweep as it runs in CI: stories without a crash, kills, two kills, pauses. Nothing may be wrong. */
export async function sweepSample(serverUrl: string, redisUrl: string | null): Promise<void> {
  const sweep = await openSweep({ serverUrl, redisUrl, lanes: 1 });
  try {
    const reference = await sweep.reference(["approve", "reject", "expire", "again", "verify", "question", "once"]);
    expect(judge(reference)).toEqual([]);
    const once = reference.find(({ of }) => of.story === "once");
    if (!once) throw new Error("nobody played the story that pairs begin with");
    const applying = singles(once).filter(({ points: [point] }) => point?.startsWith("apply:"));
    const single = singlesOf(reference.filter((one) => one !== once));
    const ended = await sweep.run([...everyNth(single, EVERY_SINGLE), ...everyNth(applying, EVERY_PAIR)]);
    expect(judge(ended)).toEqual([]);

    const two = everyNth(pairs(ended, ["decide", "apply"], ["decide", "apply"]), EVERY_PAIR);
    const paused = everyNth(pauses(once, ["apply"]), EVERY_PAIR);
    expect(two.length * paused.length).toBeGreaterThan(0);
    expect(judge(await sweep.run([...two, ...paused]))).toEqual([]);
    expect(ended.filter(({ of, stops }) => stops.length < of.points.length)).toEqual([]);
    expect(await sweep.checkRecords()).toEqual([]);
  } finally {
    await sweep.close();
  }
}
