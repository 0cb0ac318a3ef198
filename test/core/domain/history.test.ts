import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventData, EventType, SessionEvent } from "../../../src/core/domain/event.ts";
import { foldHistory, type HistoryMessage } from "../../../src/core/domain/history.ts";
import type { Json } from "../../../src/core/domain/json.ts";

/** A log as the flows write one: each act is what one transaction appends. */
type Act =
  | { readonly act: "start" | "answer" | "cancel" | "fail" | "crash" | "steer" | "propose" }
  | { readonly act: "step"; readonly calls: number; readonly says: boolean }
  | { readonly act: "result"; readonly which: number; readonly failed: boolean };

const ACTS: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom("start", "answer", "crash", "steer", "propose") }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom("cancel", "fail") }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant("step"), calls: fc.nat({ max: 3 }), says: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constant("result"), which: fc.nat({ max: 2 }), failed: fc.boolean() }) },
) as fc.Arbitrary<Act>;

/** Plays acts into a log, leaving out those that no flow would do then. */
class Log {
  readonly events: SessionEvent[] = [];
  turn: string | null = null;
  /** Calls of the last step without a result. */
  open: string[] = [];
  #turns = 0;
  #calls = 0;

  play(act: Act): void {
    switch (act.act) {
      case "start":
        if (this.turn === null) this.#start({ source: "user", text: `words ${this.#turns}` });
        return;
      case "answer":
        if (this.turn === null)
          this.#start({ source: "channel", answer: { questionId: "q", text: "yes", value: "y" } });
        return;
      case "step":
        this.#step(act.calls, act.says);
        return;
      case "result":
        this.#result(this.open[act.which], act.failed ? "tool.failed" : "tool.completed");
        return;
      case "propose":
        this.#result(this.open[0], "tool.completed");
        if (this.turn !== null) this.#add("approval.proposed", {});
        return;
      case "steer":
        if (this.turn === null || this.open.length > 0) return;
        this.#add("turn.steered", { text: "and this" });
        // The steer's own turn ends here; it is not the one that runs.
        this.#add("turn.cancelled", { reason: "steered" }, "trn_steer");
        return;
      case "crash":
        if (this.turn !== null) this.#add("runtime.resumed", {});
        return;
      case "cancel":
      case "fail":
        this.#end(act.act === "cancel" ? "turn.cancelled" : "turn.failed");
    }
  }

  #start(input: Record<string, Json>): void {
    this.turn = `trn_${++this.#turns}`;
    this.#add("message.received", input);
    this.#add("turn.started", {});
  }

  #step(count: number, says: boolean): void {
    if (this.turn === null || this.open.length > 0) return;
    const calls = Array.from({ length: count }, () => ({ callId: `call_${++this.#calls}`, tool: "t", input: {} }));
    this.#add("message.completed", { messageId: `msg_${this.#calls}`, text: says ? "so" : "", calls });
    if (count === 0) this.#end("turn.completed");
    else this.open = calls.map((call) => call.callId);
  }

  #result(callId: string | undefined, type: EventType, more: EventData = {}): void {
    if (callId === undefined) return;
    this.#add(type, { callId, tool: "t", output: 1, message: "no", ...more });
    this.open = this.open.filter((id) => id !== callId);
  }

  #end(type: EventType): void {
    if (this.turn === null) return;
    for (const callId of this.open) this.#result(callId, "tool.failed", { settledBy: type });
    this.#add(type, {});
    this.turn = null;
  }

  #add(type: EventType, data: EventData, turnId = this.turn ?? ""): void {
    const seq = this.events.length + 1;
    this.events.push({ seq, id: `evt_${seq}`, timestamp: "", sessionId: "ses_1", turnId, type, data });
  }
}

/** What every provider refuses: a call without its result right behind it, a result without its call. */
function expectLegal(history: readonly HistoryMessage[]): void {
  const seen = new Set<string>();
  for (const [i, message] of history.entries()) {
    const next = history[i + 1];
    if (message.role === "assistant" && message.calls.length > 0) {
      const results = next?.role === "tool" ? next.results.map((r) => r.callId) : [];
      expect(results).toEqual(message.calls.map((c) => c.callId));
      for (const { callId } of message.calls) {
        expect(seen.has(callId)).toBe(false);
        seen.add(callId);
      }
    }
    if (message.role === "tool") expect(history[i - 1]).toMatchObject({ role: "assistant" });
  }
}

describe("the history of a log", () => {
  it("I10 has exactly one result right behind every call, whatever turns, interrupts, proposals and crashes did", () => {
    fc.assert(
      fc.property(fc.array(ACTS, { maxLength: 40 }), (acts) => {
        const log = new Log();
        for (const act of acts) {
          log.play(act);
          const { history, open } = foldHistory(log.events);
          expectLegal(history);
          expect(open.map((call) => call.callId)).toEqual(log.open);
        }
      }),
    );
  });

  const log = (...acts: Act[]): Log => {
    const played = new Log();
    for (const act of acts) played.play(act);
    return played;
  };

  it("T3 gives a resumed turn its unfinished calls under the same ids", () => {
    const { events } = log(
      { act: "start" },
      { act: "step", calls: 2, says: true },
      { act: "result", which: 0, failed: false },
      { act: "crash" },
    );
    expect(foldHistory(events).open).toEqual([
      { callId: "call_2", tool: "t", input: {}, messageId: "msg_2", turnId: "trn_1" },
    ]);
  });

  it("leaves nothing of a turn open that has ended, even where nobody closed its calls", () => {
    const { events } = log({ act: "start" }, { act: "step", calls: 1, says: false });
    const ended = { ...(events[0] as SessionEvent), type: "turn.failed", data: {} } as const;
    const { history, open } = foldHistory([...events, ended]);
    expect(open).toEqual([]);
    expect(history).toEqual([{ role: "user", text: "words 0" }]);
  });

  it("puts the words of a turn where it started, not where they arrived", () => {
    const played = log({ act: "start" }, { act: "step", calls: 0, says: true });
    const later = { ...(played.events[0] as SessionEvent), turnId: "trn_9", data: { source: "user", text: "later" } };
    const [received, ...rest] = played.events;
    const { history } = foldHistory([received as SessionEvent, later, ...rest]);
    expect(history).toEqual([
      { role: "user", text: "words 0" },
      { role: "assistant", text: "so", calls: [] },
    ]);
  });

  it("orders results as their calls, not as they came", () => {
    const { events } = log(
      { act: "start" },
      { act: "step", calls: 2, says: true },
      { act: "result", which: 1, failed: true },
      { act: "result", which: 0, failed: false },
    );
    expect(foldHistory(events).history.at(-1)).toEqual({
      role: "tool",
      results: [
        { callId: "call_1", tool: "t", failed: false, output: 1 },
        { callId: "call_2", tool: "t", failed: true, output: "no" },
      ],
    });
  });

  it("S5 reads over events of types it does not know", () => {
    const { events } = log({ act: "start" });
    const unknown = { ...(events[0] as SessionEvent), type: "weather.changed" as EventType };
    expect(foldHistory([...events, unknown])).toEqual(foldHistory(events));
  });
});
