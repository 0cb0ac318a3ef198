import { withTx } from "../db/withTx.ts";
import { digest } from "../digest.ts";
import { ERRORS, type ErrorCode } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import type { OpenCall } from "../domain/history.ts";
import { newId } from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import { findDeployment } from "../store/deployments.ts";
import { appendEvents } from "../store/events.ts";
import { insertResult } from "../store/results.ts";
import { lockSession } from "../store/sessions.ts";
import type { WorkerCore } from "./core.ts";
import { heldBy, remember, type TurnAtWork } from "./turnAtWork.ts";

export interface Report {
  readonly call: OpenCall;
  readonly output: Json;
}

/** The `output` that the session's agent declares for its result tool; null where it has none. */
export async function resultSchema(core: WorkerCore, { session }: TurnAtWork): Promise<Json> {
  const deployment = await findDeployment(core.pool, session.deploymentId);
  const agent = deployment?.manifest.agents.find(({ id }) => id === session.agentId);
  return agent?.tools.find(({ result }) => result)?.output ?? null;
}

/**
 * Commits what the result tool reported, and only then closes its calls, in one transaction (T6): the model is told of
 * a success that is kept, or why it is not. False: the turn is somebody else's now, and nothing was written.
 */
export async function reportResults(core: WorkerCore, at: TurnAtWork, reports: readonly Report[]): Promise<boolean> {
  if (reports.length === 0) return true;
  const events = await withTx(core.pool, async (db) => {
    await lockSession(db, at.session.id);
    const closing: NewEvent[] = [];
    for (const { call, output } of reports) {
      const data = JSON.stringify(output);
      const kept = await insertResult(db, {
        id: newId(core.ids, "res"),
        sessionId: at.session.id,
        callId: call.callId,
        heldBy: heldBy(at),
        data,
        digest: digest(data),
      });
      closing.push(closeReport(at.turn.id, call, output, kept));
    }
    return (await appendEvents(db, { sessionId: at.session.id, events: closing, heldBy: heldBy(at) })) ? closing : null;
  });
  if (!events) return false;
  remember(at, events);
  return true;
}

const REFUSED: Record<"refused" | "conflict", ErrorCode> = { refused: "result_refused", conflict: "result_conflict" };

function closeReport(
  turnId: string,
  { tool, callId }: OpenCall,
  output: Json,
  kept: "kept" | "refused" | "conflict",
): NewEvent {
  if (kept === "kept") return { type: "tool.completed", turnId, data: { tool, callId, output, result: true } };
  const code = REFUSED[kept];
  return { type: "tool.failed", turnId, data: { tool, callId, code, message: ERRORS[code].message } };
}
