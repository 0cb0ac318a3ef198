import { describe, expect, it } from "vitest";
import {
  stepTurn,
  TURN_INPUTS,
  TURN_STATUSES,
  type TurnInput,
  type TurnStatus,
} from "../../../src/core/domain/turn.ts";

const never: Record<TurnInput, null> = { claim: null, complete: null, fail: null, cancel: null, lose: null };

const TABLE: Record<TurnStatus, Record<TurnInput, TurnStatus | null>> = {
  queued: { claim: "running", complete: null, fail: "failed", cancel: "cancelled", lose: null },
  running: { claim: null, complete: "completed", fail: "failed", cancel: "cancelled", lose: "queued" },
  completed: never,
  failed: never,
  cancelled: never,
};

describe("a turn", () => {
  for (const status of TURN_STATUSES) {
    for (const input of TURN_INPUTS) {
      const to = TABLE[status][input];
      it(`S2 ${status} ${to === null ? `refuses ${input}` : `goes by ${input} to ${to}`}`, () => {
        expect(stepTurn(status, input)).toBe(to);
      });
    }
  }
});
