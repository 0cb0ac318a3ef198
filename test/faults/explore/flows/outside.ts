import { EndsWith, type TestCore, threw } from "../../../helpers/core.ts";
import type { EffectCall } from "../../effectLedger.ts";
import type { Answer, Ending } from "./people.ts";
import type { Stage } from "./stage.ts";

/** The target the tool calls: what arrived there, in its order. */
export function target(t: TestCore, stage: Stage, endings: readonly Ending[]): EffectCall[] {
  const effects: EffectCall[] = [];
  const left = [...endings];
  const arrive = (key: string, args: string, refused: boolean): void => {
    const before = effects.some((call) => call.key === key && call.outcome !== "refused");
    const outcome = refused ? "refused" : before ? "replayed" : "committed";
    effects.push({ n: effects.length + 1, key, attempt: null, path: "/", args, at: 0, outcome, fault: null });
  };
  t.runtime.tools.set("attach", {
    ...t.runtime.tools.get("attach"),
    async apply({ decision, input }) {
      const key = decision?.id ?? "";
      const ending = left.shift() ?? "answers";
      if (ending === "not called") throw threw({ notApplied: true });
      if (ending === "late") {
        stage.enter(`call ${effects.length + 1} of ${key}`, async () => arrive(key, input, false));
        throw new EndsWith({ kind: "timedOut" });
      }
      await stage.gate("the call arrives");
      arrive(key, input, ending === "refuses");
      await stage.gate("the call is answered");
      if (ending === "refuses") throw threw({ traffic: { writes: [{ status: 409 }], opaque: 0 } });
      if (ending === "breaks behind it") throw threw({ traffic: { writes: [{ status: 500 }], opaque: 0 } });
      if (ending === "is silent") throw new EndsWith({ kind: "timedOut" });
      return { attached: true };
    },
    async verify({ decision }) {
      await stage.gate("verify looks");
      return { applied: effects.some((call) => call.key === decision?.id && call.outcome !== "refused") };
    },
  });
  return effects;
}

/** What the platform answers to the next messages. */
export function platform(t: TestCore, answers: readonly Answer[]): void {
  for (const answer of answers) {
    t.chat.answerNext((_, accept) => {
      if (answer === "never there") return { outcome: "unknown", code: "silent" };
      if (answer === "limited") return { outcome: "retry", code: "limited", afterMs: 1_000 };
      const sent = accept();
      return answer === "lost" ? { outcome: "unknown", code: "silent" } : sent;
    });
  }
}
