import type { Decision } from "../domain/decision.ts";
import type { InvokeResult, Runtime } from "../ports.ts";
import type { WorkerCore } from "./core.ts";

/**
 * Calls `apply` or `verify` of the pinned deployment with exactly the stored arguments, under the proposing call's ids
 * (A2, A3). Nobody interrupts it: its own timeout bounds it, and an answer that comes is worth waiting for. Null: the
 * agent's code did not load, so none of it ran.
 */
export async function invokeDecided(
  core: WorkerCore,
  decision: Decision,
  entry: "apply" | "verify",
  timeoutMs: number,
): Promise<InvokeResult | null> {
  const { signal } = new AbortController();
  const { deploymentId, agentId, sessionId } = decision;
  let runtime: Runtime;
  try {
    runtime = await core.runtime.lease({ deploymentId, agentId, sessionId }, signal);
  } catch (error) {
    core.log.error({ err: error, decision: decision.id, entry }, "no runtime for a decided tool");
    return null;
  }
  try {
    return await runtime.invoke({
      tool: decision.tool,
      entry,
      input: decision.input,
      context: { sessionId, agentId, messageId: decision.messageId, toolCallId: decision.callId },
      decision: {
        id: decision.id,
        decidedAt: decision.decidedAt ?? "",
        ...(decision.decidedBy && { decidedBy: { ...decision.decidedBy } }),
      },
      timeoutMs,
      signal,
    });
  } finally {
    await runtime.release().catch((error) => core.log.warn({ err: error }, "a runtime could not be given back"));
  }
}
