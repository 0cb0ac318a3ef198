import { isOutage } from "../db/outage.ts";
import { again, withTx } from "../db/withTx.ts";
import { CountersignError, type ErrorCode } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import { foldHistory, type OpenCall } from "../domain/history.ts";
import { newId } from "../domain/ids.ts";
import { inputText } from "../domain/input.ts";
import type { Json } from "../domain/json.ts";
import { type ClaimedTurn, MAX_TURN_STEPS } from "../domain/turn.ts";
import type { ModelStep, Rendered, Runtime } from "../ports.ts";
import { appendEvents, readAllEvents } from "../store/events.ts";
import { findSession, lockSession } from "../store/sessions.ts";
import { cancelQueued, claimNextTurn, hasSteers } from "../store/turns.ts";
import { modelTools, type Offered, offerTools } from "../tools/offerTools.ts";
import type { WorkerCore } from "./core.ts";
import { stopReason } from "./leases.ts";
import { runCalls } from "./runCalls.ts";
import { answer, showStatus } from "./say.ts";
import { failureMessage, handBack, settleTurn } from "./settleTurn.ts";
import { commitEvents, heldBy, remember, type TurnAtWork } from "./turnAtWork.ts";

/** Runs a session's turns, one after another, until none is left to start (S2). */
export async function runTurns(core: WorkerCore, sessionId: string): Promise<void> {
  while (!core.leases.closing()) {
    const turn = await again(() => claimNextTurn(core.pool, sessionId, core.limits.leaseMs));
    if (!turn) return;
    await core.leases.hold("turn", turn, (signal) => runTurn(core, turn, signal));
  }
}

async function runTurn(core: WorkerCore, turn: ClaimedTurn, signal: AbortSignal): Promise<void> {
  const { sessionId } = turn;
  let runtime: Runtime | null = null;
  try {
    const session = await findSession(core.pool, sessionId);
    if (!session) throw new Error("a turn has lost its session");
    const { deploymentId, agentId } = session;
    runtime = await core.runtime.lease({ deploymentId, agentId, sessionId }, signal);
    await runSteps(core, { session, turn, runtime, signal, log: await readAllEvents(core.pool, sessionId) });
  } catch (error) {
    await settleFailure(core, turn, signal, error);
  } finally {
    await runtime
      ?.release()
      .catch((error) => core.log.warn({ err: error, turn: turn.id }, "a runtime could not be given back"));
  }
}

/** Render, model step, tools, again; each is committed, and a resumed turn goes on behind the last one that was. */
async function runSteps(core: WorkerCore, at: TurnAtWork): Promise<void> {
  const { session, turn, runtime, signal, log } = at;
  let steps = log.filter((e) => e.turnId === turn.id && e.type === "message.completed").length;
  for (;;) {
    if (core.leases.closing()) return handBack(core, turn);
    const { history, open } = foldHistory(log);
    const rendered = await runtime.render({ input: turn.input, sessionData: session.data });
    const of = { sessionId: session.id, agentId: session.agentId, deploymentId: session.deploymentId };
    const offered = await offerTools(core.providers, { ...of, rendered, signal }, core.log);
    const again = open.length > 0;
    let calls: readonly OpenCall[] = open;
    if (!again) {
      if (++steps > MAX_TURN_STEPS) throw new CountersignError("turn_too_long");
      showStatus(core, session, "is thinking…");
      const step = await core.model.step({
        model: rendered.model,
        instructions: rendered.instructions,
        history,
        tools: modelTools(offered),
        signal,
      });
      signal.throwIfAborted();
      const { events, made } = recordStep(core, turn.id, { model: rendered.model, offered }, step);
      if (made.length === 0) return settleWithText(core, at, step.text, events);
      if (!(await commitEvents(core, at, events))) return;
      calls = made;
    }
    showStatus(core, session, `is running ${calls.map((c) => c.tool).join(", ")}…`);
    if (!(await runCalls(core, at, offered, calls, again))) return;
    await takeSteers(core, at);
  }
}

/** One model step as events: what it said, what it cost, which calls it made under ids of ours (T3). */
function recordStep(
  core: WorkerCore,
  turnId: string,
  { model, offered }: { readonly model: Rendered["model"]; readonly offered: Offered },
  step: ModelStep,
): { events: NewEvent[]; made: OpenCall[] } {
  const messageId = newId(core.ids, "msg");
  const calls = step.calls.map(({ tool, input, malformed }) => ({
    callId: newId(core.ids, "call"),
    tool,
    input,
    ...(malformed !== undefined && { malformed }),
  }));
  const said = {
    messageId,
    text: step.text,
    model: step.model,
    ...(calls.length > 0 && { calls: calls as unknown as Json }),
    ...(step.reasoning !== undefined && { reasoning: step.reasoning }),
  };
  const tools = modelTools(offered).map(({ name }) => name);
  return {
    events: [
      { type: "agent.rendered", turnId, data: { model, tools } },
      { type: "message.completed", turnId, data: said },
      { type: "usage.recorded", turnId, data: { model: step.model, ...step.usage } },
      ...calls.map(
        ({ tool, callId, input }): NewEvent => ({ type: "tool.started", turnId, data: { tool, callId, input } }),
      ),
    ],
    made: calls.map((call) => ({ ...call, messageId, turnId })),
  };
}

/** What came in to steer this turn joins it before its next step (S2). */
async function takeSteers(core: WorkerCore, at: TurnAtWork): Promise<void> {
  const sessionId = at.session.id;
  // Steers are rare, and one that comes just after this look joins the next step.
  if (!(await hasSteers(core.pool, sessionId))) return;
  const taken = await withTx(core.pool, async (db) => {
    await lockSession(db, sessionId);
    const steers = await cancelQueued(db, sessionId, "steers");
    const events = steers.flatMap((steer): NewEvent[] => [
      { type: "turn.steered", turnId: at.turn.id, data: { text: inputText(steer.input), from: steer.id } },
      { type: "turn.cancelled", turnId: steer.id, data: { reason: "steered", into: at.turn.id } },
    ]);
    const kept = events.length === 0 || (await appendEvents(db, { sessionId, events, heldBy: heldBy(at) }));
    if (!kept) throw new CountersignError("runtime_lost"); // Undoes the transaction: the steers stay queued.
    return events;
  });
  remember(at, taken);
}

async function settleWithText(
  core: WorkerCore,
  at: TurnAtWork,
  text: string,
  events: readonly NewEvent[],
): Promise<void> {
  await settleTurn(core, at.turn, {
    settlement: { status: "completed", outcome: "text" },
    events,
    messages: answer(core, at.session, text.trim() === "" ? EMPTY_ANSWER : text),
  });
}

/** People are told that a turn ended, also when the model had nothing to say (G6). */
const EMPTY_ANSWER = "The agent finished without saying anything.";

/** A turn that did not end by itself: handed back, left alone, cancelled, or failed with a code people are shown. */
async function settleFailure(core: WorkerCore, turn: ClaimedTurn, signal: AbortSignal, error: unknown): Promise<void> {
  const stopped = stopReason(signal);
  if (stopped === "lost") return;
  if (stopped === "closing") return handBack(core, turn);
  // The turn is well: once its lease is over, a worker that has its database resumes it.
  if (isOutage(error)) throw error;
  const { open } = foldHistory(await readAllEvents(core.pool, turn.sessionId));
  if (stopped === "cancelled") {
    await settleTurn(core, turn, { settlement: { status: "cancelled" }, open });
    return;
  }
  const code: ErrorCode = error instanceof CountersignError ? error.code : "turn_failed";
  core.log.error({ err: error, turn: turn.id, session: turn.sessionId, code }, "a turn failed");
  await settleTurn(core, turn, {
    settlement: { status: "failed", errorCode: code },
    open,
    messages: failureMessage(code),
  });
}
