import type { Ids } from "./ids.ts";
import { refusal, violation } from "./webApi/refusal.ts";

/** Trigger ids: each lets an app open one modal in front of the person who clicked, within three seconds. */
export interface Triggers {
  issue(user: string): string;
  /** The user it was issued for. Throws Slack's errors for an unknown, late or used one. */
  exchange(trigger: string): string;
}

const LASTS_MS = 3_000;
/** Old ones are forgotten, so that a simulator which runs for days does not grow. */
const KEPT = 1_000;

export function createTriggers(ids: Ids, now: () => number): Triggers {
  const issued = new Map<string, { readonly user: string; readonly at: number; used: boolean }>();
  return {
    issue(user) {
      const trigger = `${ids.ts()}.${ids.next("").toLowerCase()}`;
      issued.set(trigger, { user, at: now(), used: false });
      const [oldest] = issued.keys();
      if (issued.size > KEPT && oldest !== undefined) issued.delete(oldest);
      return trigger;
    },
    exchange(trigger) {
      const found = issued.get(trigger);
      if (!found) throw violation("invalid_trigger_id");
      if (found.used) throw violation("exchanged_trigger_id");
      if (found.at + LASTS_MS < now()) throw refusal("expired_trigger_id");
      found.used = true;
      return found.user;
    },
  };
}
