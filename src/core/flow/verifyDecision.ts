import { withTx } from "../db/withTx.ts";
import { type Decision, lookAgainMs } from "../domain/decision.ts";
import type { Json } from "../domain/json.ts";
import type { InvokeResult } from "../ports.ts";
import { findDeployment } from "../store/deployments.ts";
import { lockSession } from "../store/sessions.ts";
import { claimLook, noteVerified, settleVerified } from "../store/verification.ts";
import { redrawCard } from "./card.ts";
import type { WorkerCore } from "./core.ts";
import { invokeDecided } from "./invokeDecided.ts";
import { reportOutcome } from "./reportOutcome.ts";

/** It only reads, and people wait for it to know whether to run the write again. */
const VERIFY_TIMEOUT_MS = 30_000;
/** A look, with the start of an agent in front of it; and what a crash interrupted is taken up within a minute. */
const LOOK_LEASE_MS = 45_000;
const NOTE_CHARACTERS = 500;

/**
 * Asks the tool itself what became of an unconfirmed write (A5). Proof of the effect settles it as applied; anything
 * else leaves it unconfirmed, and what `verify` said stands beside `Run again`. It looks again, ever more slowly: a
 * target may be away, or show late what was written. A tool without `verify` says nothing.
 */
export async function verifyDecision(core: WorkerCore, decisionId: string): Promise<void> {
  const decision = await claimLook(core.pool, decisionId, LOOK_LEASE_MS);
  if (!decision) return;
  const { attempt, verifyLooks: looks } = decision;
  if (!(await verifies(core, decision))) {
    await noteVerified(core.pool, decision.id, { attempt, looks, note: null, againMs: null });
    return;
  }
  const said = readVerdict(await invokeDecided(core, decision, "verify", VERIFY_TIMEOUT_MS));
  const wakes = await withTx(core.pool, async (db) => {
    const session = await lockSession(db, decision.sessionId);
    if (said.applied) {
      const settled = await settleVerified(db, decision.id, said.evidence);
      return settled && session ? reportOutcome(core, db, session, settled) : [];
    }
    const look = { attempt, looks, note: said.note, againMs: lookAgainMs(looks + 1) };
    const noted = await noteVerified(db, decision.id, look);
    return noted && noted.verifyNote !== decision.verifyNote ? redrawCard(core, db, noted) : [];
  });
  await core.ring(wakes);
}

/** Known from the manifest: no process is started to find a tool without `verify`. */
async function verifies({ pool }: WorkerCore, { deploymentId, agentId, tool }: Decision): Promise<boolean> {
  const deployment = await findDeployment(pool, deploymentId);
  const agent = deployment?.manifest.agents.find((a) => a.id === agentId);
  return agent?.tools.find((t) => t.name === tool)?.verifies !== false;
}

/** Only a plain `applied: true` is proof; whatever else came back leaves the write unconfirmed. */
function readVerdict(result: InvokeResult | null): { applied: boolean; note: string | null; evidence: Json } {
  const value = result?.kind === "returned" ? result.value : null;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { applied: false, note: null, evidence: null };
  const { applied, note } = value as { readonly [key: string]: Json };
  const words = typeof note === "string" && note.trim() !== "" ? [...note].slice(0, NOTE_CHARACTERS).join("") : null;
  return { applied: applied === true, note: words, evidence: value };
}
