import { withTx } from "../db/withTx.ts";
import type { Decision } from "../domain/decision.ts";
import type { Json } from "../domain/json.ts";
import type { InvokeResult, Runtime } from "../ports.ts";
import { findDecision, noteVerified, settleVerified } from "../store/decisions.ts";
import { lockSession } from "../store/sessions.ts";
import { redrawCard } from "./card.ts";
import type { WorkerCore } from "./core.ts";
import { reportOutcome } from "./reportOutcome.ts";

/** It only reads, and people wait for it to know whether to run the write again. */
const VERIFY_TIMEOUT_MS = 30_000;
const NOTE_CHARACTERS = 500;

/**
 * Asks the tool itself what became of an unconfirmed write (A5). Proof of the effect settles it as applied; anything
 * else leaves it unconfirmed, and what `verify` said stands beside `Run again`. A tool without `verify` says nothing.
 */
export async function verifyDecision(core: WorkerCore, decisionId: string): Promise<void> {
  const decision = await findDecision(core.pool, decisionId);
  if (decision?.status !== "unconfirmed") return;
  const said = readVerdict(await ask(core, decision));
  const wakes = await withTx(core.pool, async (db) => {
    const session = await lockSession(db, decision.sessionId);
    if (said.applied) {
      const settled = await settleVerified(db, decision.id, said.evidence);
      return settled && session ? reportOutcome(core, db, session, settled) : [];
    }
    const noted = await noteVerified(db, decision.id, decision.attempt, said.note);
    return noted && said.note !== null ? redrawCard(core, db, noted) : [];
  });
  await core.ring(wakes);
}

async function ask(core: WorkerCore, decision: Decision): Promise<InvokeResult> {
  const { signal } = new AbortController();
  const { deploymentId, agentId, sessionId } = decision;
  let runtime: Runtime;
  try {
    runtime = await core.runtime.lease({ deploymentId, agentId, sessionId }, signal);
  } catch (error) {
    // Code that does not load will not load at the next sweep either: nothing is known, and people are not kept waiting.
    core.log.warn({ err: error, decision: decision.id }, "no runtime for a verify");
    return { kind: "lost", reason: "the agent's code did not load" };
  }
  try {
    return await runtime.invoke({
      tool: decision.tool,
      entry: "verify",
      input: decision.input,
      context: { sessionId, agentId, messageId: decision.messageId, toolCallId: decision.callId },
      decision: {
        id: decision.id,
        decidedAt: decision.decidedAt ?? "",
        ...(decision.decidedBy && { decidedBy: { ...decision.decidedBy } }),
      },
      timeoutMs: VERIFY_TIMEOUT_MS,
      signal,
    });
  } finally {
    await runtime.release().catch((error) => core.log.warn({ err: error }, "a runtime could not be given back"));
  }
}

/** Only a plain `applied: true` is proof; whatever else came back leaves the write unconfirmed. */
function readVerdict(result: InvokeResult): { applied: boolean; note: string | null; evidence: Json } {
  const value = result.kind === "returned" ? result.value : null;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { applied: false, note: null, evidence: null };
  const { applied, note } = value as { readonly [key: string]: Json };
  const words = typeof note === "string" && note.trim() !== "" ? [...note].slice(0, NOTE_CHARACTERS).join("") : null;
  return { applied: applied === true, note: words, evidence: value };
}
