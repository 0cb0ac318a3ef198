import { withTx } from "../db/withTx.ts";
import { ERRORS, type ErrorCode } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import type { OpenCall } from "../domain/history.ts";
import type { Json } from "../domain/json.ts";
import { appendEvents } from "../store/events.ts";
import { lockSession } from "../store/sessions.ts";
import { type CallOutcome, callTool } from "../tools/callTool.ts";
import type { Offered } from "../tools/offerTools.ts";
import { askQuestion } from "./askQuestion.ts";
import type { WorkerCore } from "./core.ts";
import { insertProposals, type Proposal, propose } from "./propose.ts";
import { reportResults, resultSchema } from "./reportResults.ts";
import { commitEvents, heldBy, remember, type TurnAtWork } from "./turnAtWork.ts";

interface Done {
  readonly call: OpenCall;
  readonly outcome: CallOutcome;
  /** Set where the call proposes a change. */
  readonly proposal?: Proposal;
}

/**
 * Runs the calls of one step side by side and commits what closes them. Proposals are stored, with their cards, in the
 * transaction that closes their calls (A1). False: the turn is over, by a question or because it is somebody else's. `again`: a worker that is gone began them.
 */
export async function runCalls(
  core: WorkerCore,
  at: TurnAtWork,
  offered: Offered,
  calls: readonly OpenCall[],
  again: boolean,
): Promise<boolean> {
  const reports = calls.some((call) => isResultTool(offered, call));
  const schema = reports ? await resultSchema(core, at) : null;
  const all = await Promise.all(calls.map((call) => runCall(core, at, { offered, resultSchema: schema, again }, call)));
  const reported = all.flatMap(({ call, outcome }) =>
    outcome.kind === "reported" ? [{ call, output: outcome.output }] : [],
  );
  if (!(await reportResults(core, at, reported))) return false;
  const done = all.filter(({ outcome }) => outcome.kind !== "reported");
  if (at.signal.aborted) {
    // What did finish is kept, so that a resumed turn does not do it again; the rest is closed with the turn (S6).
    const finished = done.filter((d) => d.outcome.kind === "completed");
    await commitEvents(
      core,
      at,
      finished.map((d) => closeCall(at.turn.id, d, null)),
    );
    at.signal.throwIfAborted();
  }
  const asked = done.find((d) => d.outcome.kind === "asked");
  const closing = done.map((d) => closeCall(at.turn.id, d, asked?.call ?? null));
  const proposals = done.flatMap((d) => d.proposal ?? []);
  if (asked?.outcome.kind === "asked") {
    await askQuestion(core, at, asked.call, asked.outcome, wordsWith(at, asked.call), closing, proposals);
    return false;
  }
  return proposals.some((p) => p.refused === null)
    ? storeProposals(core, at, closing, proposals)
    : commitEvents(core, at, closing);
}

const isResultTool = ({ own }: Offered, { tool }: OpenCall): boolean =>
  own.some((offered) => offered.kind === "run" && offered.name === tool && offered.result);

async function runCall(
  core: WorkerCore,
  at: TurnAtWork,
  step: { readonly offered: Offered; readonly resultSchema: Json; readonly again: boolean },
  call: OpenCall,
): Promise<Done> {
  const { session, runtime, signal } = at;
  const outcome = await callTool(call, {
    runtime,
    check: core.check,
    ...step,
    sessionId: session.id,
    agentId: session.agentId,
    timeoutMs: core.limits.toolTimeoutMs,
    signal,
    onProgress: (of, metadata) => recordProgress(core, at, of, metadata),
  });
  if (outcome.kind !== "proposed") return { call, outcome };
  return { call, outcome, proposal: await propose(core, at, call, outcome.preview) };
}

function recordProgress(core: WorkerCore, at: TurnAtWork, call: OpenCall, metadata: Json): void {
  const data = { tool: call.tool, callId: call.callId, metadata };
  commitEvents(core, at, [{ type: "tool.progress", turnId: at.turn.id, data }]).catch((error) =>
    core.log.warn({ err: error, turn: at.turn.id }, "progress was not recorded"),
  );
}

function closeCall(turnId: string, { call, outcome, proposal }: Done, asked: OpenCall | null): NewEvent {
  const of = { tool: call.tool, callId: call.callId };
  const failed = (code: ErrorCode, message: string = ERRORS[code].message): NewEvent => ({
    type: "tool.failed",
    turnId,
    data: { ...of, code, message },
  });
  const completed = (output: Json): NewEvent => ({ type: "tool.completed", turnId, data: { ...of, output } });
  switch (outcome.kind) {
    case "completed":
    case "reported":
      return completed(outcome.output);
    case "failed":
      return failed(outcome.code, outcome.message);
    case "asked":
      return call === asked ? completed(ASKED) : failed("question_already_asked");
    case "proposed":
      return proposal?.refused ? failed(proposal.refused) : completed(RECORDED);
  }
}

const ASKED = "The question was asked. The turn ends here.";
const RECORDED =
  "The change was recorded for approval. It has not been made. Say so and stop; the outcome will be reported.";

/** The words of the step that made a call. */
function wordsWith({ log }: TurnAtWork, call: OpenCall): string {
  const step = log.findLast((e) => e.type === "message.completed" && e.data.messageId === call.messageId);
  return typeof step?.data.text === "string" ? step.data.text : "";
}

/** One transaction: the calls are closed and the proposals and their cards exist, or none of it happened. */
async function storeProposals(
  core: WorkerCore,
  at: TurnAtWork,
  closing: readonly NewEvent[],
  proposals: readonly Proposal[],
): Promise<boolean> {
  const events = [...closing, ...proposals.flatMap((p) => p.events)];
  const wakes = await withTx(core.pool, async (db) => {
    await lockSession(db, at.session.id);
    if (!(await appendEvents(db, { sessionId: at.session.id, events, heldBy: heldBy(at) }))) return null;
    return insertProposals(db, at, proposals);
  });
  if (!wakes) return false;
  remember(at, events);
  await core.ring(wakes);
  return true;
}
