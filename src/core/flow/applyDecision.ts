import { setTimeout } from "node:timers/promises";
import { isOutage } from "../db/outage.ts";
import { withTx } from "../db/withTx.ts";
import { digest } from "../digest.ts";
import { backoffMs } from "../domain/backoff.ts";
import { type ApplyReport, type Decision, isRefusedResponse, judgeApply } from "../domain/decision.ts";
import type { ErrorCode } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { InvokeResult } from "../ports.ts";
import {
  type Attempt,
  type AttemptEnd,
  finishAttempt,
  refuseAgain,
  refuseStart,
  reportLate,
  startAttempt,
} from "../store/attempts.ts";
import { findDecision } from "../store/decisions.ts";
import { findDeployment } from "../store/deployments.ts";
import { appendEvents } from "../store/events.ts";
import { lockSession } from "../store/sessions.ts";
import { cardDigest, redrawCard } from "./card.ts";
import type { WorkerCore } from "./core.ts";
import { invokeDecided } from "./invokeDecided.ts";
import { reportOutcome } from "./reportOutcome.ts";

/**
 * Carries out one approved write (A2, A5): commits the start, calls `apply` of the pinned deployment with the stored
 * arguments, commits the outcome. What is not waiting to be started is left alone, so a repeated wake does nothing.
 */
export async function applyDecision(core: WorkerCore, decisionId: string): Promise<void> {
  const decision = await findDecision(core.pool, decisionId);
  if (!decision) return;
  if (!(await isWhatWasApproved(core, decision))) return refuse(core, decision);
  const attempt = await start(core, decision);
  if (!attempt) return;
  await core.leases.hold("attempt", { id: decisionId, fence: attempt.fence }, async () => {
    const result = await invokeDecided(core, attempt.decision, "apply", decision.rule.applyTimeoutMs);
    const end = toEnd(result ?? NEVER_RAN, attempt.earlierInDoubt);
    await finishSurely(core, attempt, end);
  });
}

/** Everything the approval bound is computed again from what would run: arguments, card, tool, deployment. */
async function isWhatWasApproved(core: WorkerCore, decision: Decision): Promise<boolean> {
  const deployment = await findDeployment(core.pool, decision.deploymentId);
  const agent = deployment?.manifest.agents.find((a) => a.id === decision.agentId);
  const tool = agent?.tools.find((t) => t.name === decision.tool);
  return (
    tool !== undefined &&
    tool.kind === "approval" &&
    tool.digest === decision.toolDigest &&
    digest(decision.input) === decision.inputDigest &&
    cardDigest(decision) === decision.cardDigest
  );
}

function refuse(core: WorkerCore, decision: Decision): Promise<void> {
  return transact(core, async (db) => {
    const session = await lockSession(db, decision.sessionId);
    const failed = await refuseStart(db, decision.id);
    if (failed && session) return reportOutcome(core, db, session, failed);
    const kept = await refuseAgain(db, decision.id);
    if (!kept) return [];
    const { id, turnId, callId, tool, attempt } = kept;
    const data = { decisionId: id, callId, tool, attempt, code: "needs_reapproval" };
    await appendEvents(db, { sessionId: kept.sessionId, events: [{ type: "approval.unconfirmed", turnId, data }] });
    return redrawCard(core, db, kept);
  });
}

/** Transaction A: from here on a lost worker means unconfirmed. */
async function start(core: WorkerCore, { id, sessionId }: Decision): Promise<Attempt | null> {
  const started = await withTx(core.pool, async (db) => {
    await lockSession(db, sessionId);
    const attempt = await startAttempt(db, id, core.limits.leaseMs);
    if (!attempt) return null;
    const { turnId, callId, tool, attempt: number } = attempt.decision;
    const by = attempt.authorisedBy;
    const data = { decisionId: id, callId, tool, attempt: number, ...(by && { by: { ...by } }) };
    await appendEvents(db, { sessionId, events: [{ type: "approval.applying", turnId, data }] });
    // A first attempt stands under a card without buttons already; here one still offers to run it again (A9).
    const wakes = number > 1 ? await redrawCard(core, db, attempt.decision) : [];
    return { attempt, wakes };
  });
  if (!started) return null;
  await core.ring(started.wakes);
  return started.attempt;
}

/** The tool's code never ran, so nothing can have been written. */
const NEVER_RAN: InvokeResult = {
  kind: "threw",
  message: "the agent's code did not load",
  notApplied: true,
  traffic: { writes: [], opaque: 0 },
};

function toEnd(result: InvokeResult, earlierInDoubt: boolean): AttemptEnd {
  const outcome = judgeApply(toReport(result), earlierInDoubt);
  const code: Record<typeof outcome, ErrorCode | null> = {
    reportApplied: null,
    reportFailed: refusedByTarget(result) ? "apply_refused" : "apply_not_applied",
    reportUnconfirmed: "apply_unconfirmed",
  };
  const value: Json = result.kind === "returned" ? result.value : null;
  const status = { reportApplied: "applied", reportFailed: "failed", reportUnconfirmed: "unconfirmed" } as const;
  return { outcome: status[outcome], errorCode: code[outcome], result: value };
}

/** Not where the tool says that nothing was written, nor where nothing was sent: then no target has said anything. */
const refusedByTarget = (result: InvokeResult): boolean =>
  "traffic" in result && result.traffic.writes.length > 0 && !(result.kind === "threw" && result.notApplied);

function toReport(result: InvokeResult): ApplyReport {
  switch (result.kind) {
    case "returned":
      // The page's own `apply` returns its Response as it came: one that is not ok is no success because it was returned.
      return isRefusedResponse(result.value)
        ? { kind: "threw", notApplied: false, traffic: result.traffic }
        : { kind: "returned" };
    case "threw":
      return { kind: "threw", notApplied: result.notApplied, traffic: result.traffic };
    case "timedOut":
    case "aborted":
    case "lost":
      return { kind: "lost" };
  }
}

/** Between two tries: an outcome is in the chat soon after a failover, or after somebody made room on the disk. */
const FINISH_AGAIN_WITHIN_MS = 10_000;

/** What an attempt reported is known here and nowhere else: a database that is away is waited for, however long. */
async function finishSurely(core: WorkerCore, attempt: Attempt, end: AttemptEnd): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await finish(core, attempt, end);
    } catch (error) {
      if (!isOutage(error) || core.leases.closing()) throw error;
      if (tries === 1)
        core.log.warn({ err: error, decision: attempt.decision.id }, "an outcome waits for the database");
      await setTimeout(Math.min(backoffMs(tries, core.random()), FINISH_AGAIN_WITHIN_MS));
    }
  }
}

/** Transaction B: the outcome, under the attempt's fence; what comes too late is evidence, or late proof. */
function finish(core: WorkerCore, { decision, fence }: Attempt, end: AttemptEnd): Promise<void> {
  return transact(core, async (db) => {
    const session = await lockSession(db, decision.sessionId);
    const settled =
      (await finishAttempt(db, decision.id, fence, end)) ?? (await reportLate(db, decision.id, fence, end));
    return settled && session ? reportOutcome(core, db, session, settled) : [];
  });
}

async function transact(
  core: WorkerCore,
  work: Parameters<typeof withTx<Awaited<ReturnType<typeof redrawCard>>>>[1],
): Promise<void> {
  await core.ring(await withTx(core.pool, work));
}
