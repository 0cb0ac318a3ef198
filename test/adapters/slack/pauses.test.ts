import { describe, expect, it } from "vitest";
import { createPauses } from "../../../src/adapters/slack/pauses.ts";

describe("pauses", () => {
  const clock = () => {
    let now = 0;
    return { pauses: createPauses(() => now), pass: (ms: number) => (now += ms) };
  };

  it("G5 last as long as they were told, for their scope alone", () => {
    const { pauses, pass } = clock();
    pauses.pause("chat.postMessage:C1", 7_000);
    pass(6_999);
    expect(pauses.leftMs("chat.postMessage:C1")).toBe(1);
    expect(pauses.leftMs("chat.postMessage:C2")).toBe(0);
    expect(pauses.leftMs("chat.update:C1")).toBe(0);
    pass(1);
    expect(pauses.leftMs("chat.postMessage:C1")).toBe(0);
  });

  it("G5 are not shortened by what was learned at the same time", () => {
    const { pauses } = clock();
    pauses.pause("m:C1", 5_000);
    pauses.pause("m:C1", 1_000);
    expect(pauses.leftMs("m:C1")).toBe(5_000);
  });

  it("G5 are asked about after a minute, however long they are said to be", () => {
    const { pauses, pass } = clock();
    pauses.pause("m:C1", 30 * 86_400_000);
    pass(60_000);
    expect(pauses.leftMs("m:C1")).toBe(0);
  });
});
