import { idProblem } from "./connectionShape.ts";
import { cronProblem } from "./cron.ts";
import type { DataValue, ResourceReference } from "./data.ts";
import { mark } from "./mark.ts";

export interface ScheduleInput {
  /** The same as its file's name. */
  readonly id: string;
  /** Five fields: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  /** An IANA zone; `UTC` when left out. */
  readonly timezone?: string;
  /** The environments it runs in; `["production"]` when left out. */
  readonly enabled?: readonly string[];
  /** What happens when the last run is still going: `skip` when left out. */
  readonly overlap?: "skip" | "allow";
  readonly dispatch: { readonly text?: string; readonly payload?: DataValue };
}

export interface ScheduleDefinition extends ResourceReference, Required<ScheduleInput> {
  readonly kind: "schedule";
  readonly id: string;
}

const MAX_PAYLOAD_BYTES = 32 * 1024;

export function defineSchedule(input: ScheduleInput): ScheduleDefinition {
  const problem = problemOf(input);
  if (problem) throw new TypeError(`defineSchedule ${JSON.stringify(input.id)}: ${problem}.`);
  return mark("schedule", {
    kind: "schedule" as const,
    id: input.id,
    cron: input.cron,
    timezone: input.timezone ?? "UTC",
    enabled: Object.freeze([...(input.enabled ?? ["production"])]),
    overlap: input.overlap ?? "skip",
    dispatch: Object.freeze({ ...input.dispatch }),
  });
}

function problemOf({ id, cron, timezone, enabled, overlap, dispatch }: ScheduleInput): string | null {
  if (idProblem("schedule", id)) return "its id is not its file's name";
  const wrong = cronProblem(cron);
  if (wrong) return wrong;
  if (timezone !== undefined && !isZone(timezone))
    return `timezone ${JSON.stringify(timezone)} is not an IANA zone; write one such as "Europe/Berlin"`;
  if (enabled !== undefined && !(Array.isArray(enabled) && enabled.every((name) => typeof name === "string"))) {
    return 'enabled is not a list of environments; write ["production"]';
  }
  if (overlap !== undefined && overlap !== "skip" && overlap !== "allow")
    return 'overlap is neither "skip" nor "allow"';
  if (dispatch?.text === undefined && dispatch?.payload === undefined) return "dispatch has neither text nor payload";
  const payload = dispatch.payload === undefined ? "" : JSON.stringify(dispatch.payload);
  return new TextEncoder().encode(payload).length > MAX_PAYLOAD_BYTES
    ? "dispatch.payload is over 32 KiB of JSON"
    : null;
}

function isZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}
