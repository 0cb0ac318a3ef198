import { isRefusedResponse, type Traffic } from "../domain/decision.ts";
import { CountersignError } from "../domain/errors.ts";
import type { InvokeRequest, InvokeResult, LeaseRequest, Log, Rendered, RenderRequest, Runtime } from "../ports.ts";
import type { Answer } from "./agentProcess.ts";
import { parseJson } from "./childMessage.ts";
import type { Launched } from "./launch.ts";
import { ProcessLost } from "./loading.ts";
import { unlessAborted, whenStopped, within } from "./waiting.ts";

/** What the parent's egress saw a runtime send. Both take the runtime's token. */
export interface EgressTraffic {
  /** Forgets what was seen so far. */
  begin(token: string): void;
  /** What was sent since `begin`. */
  of(token: string): Traffic;
}

export interface LeaseDeps {
  /** Starts a child; the lease's slot is already held. */
  readonly launch: () => Promise<Launched>;
  /** Tells whose requests a token carries, null: nobody's. */
  readonly onLease: (token: string, lease: LeaseRequest | null) => void;
  readonly egress: EgressTraffic;
  readonly giveBack: (child: Launched) => Promise<void>;
  readonly log: Log;
}

export interface LeaseLimits {
  readonly renderTimeoutMs: number;
  /** How long a call that was told to stop may take to do so. */
  readonly graceMs: number;
}

/**
 * One lease. A child that a call harmed or lost is replaced under the same lease at the next call, so that a turn
 * goes on after a tool that took its process down. Calls may overlap; what the egress saw then counts for each.
 */
export function createLease(request: LeaseRequest, first: Launched, deps: LeaseDeps, limits: LeaseLimits): Runtime {
  let child = first;
  let starting: Promise<Launched> | null = null;
  let released = false;
  let calls = 0;
  deps.onLease(child.token, request);

  async function replace(lost: Launched): Promise<Launched> {
    await lost.gone;
    deps.onLease(lost.token, null);
    child = await deps.launch();
    deps.onLease(child.token, request);
    return child;
  }

  async function current(): Promise<Launched> {
    if (released) throw new ProcessLost("the lease was released");
    if (child.alive) return child;
    starting ??= replace(child).finally(() => {
      starting = null;
    });
    return starting;
  }

  /** The child with its bundle loaded. Throws `agent_load_failed`. */
  async function loaded(): Promise<Launched> {
    const running = await current();
    const failure = await running.loaded;
    if (failure === null) return running;
    deps.log.warn(
      { deploymentId: request.deploymentId, agentId: request.agentId, reason: failure },
      "agent did not load",
    );
    // What failed for a passing reason gets another chance, in another process.
    await running.end("its code did not load");
    throw new CountersignError("agent_load_failed", undefined, { cause: new Error(failure) });
  }

  async function render({ input, sessionData }: RenderRequest): Promise<Rendered> {
    const running = await loaded().catch(rethrow);
    const { answer } = running.ask({ type: "render", input, sessionData });
    const timer = setTimeout(() => void running.end("its agent function did not return"), limits.renderTimeoutMs);
    try {
      const settled = await answer;
      if (settled.type === "rendered") return settled.rendered;
      throw renderFailed(settled.type === "renderFailed" ? settled.message : "it answered something else");
    } catch (error) {
      throw error instanceof ProcessLost ? renderFailed(error.message) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  function renderFailed(reason: string): CountersignError {
    deps.log.warn({ deploymentId: request.deploymentId, agentId: request.agentId, reason }, "agent did not render");
    return new CountersignError("agent_render_failed", undefined, { cause: new Error(reason) });
  }

  async function invoke(call: InvokeRequest): Promise<InvokeResult> {
    if (call.signal.aborted) return { kind: "aborted" };
    const ready = await unlessAborted(loaded(), call.signal).catch((error: unknown) => ({ error }));
    if (ready === null) return { kind: "aborted" };
    if ("error" in ready) return notStarted(ready.error, deps.log);
    if (calls === 0) deps.egress.begin(ready.token);
    calls++;
    try {
      return await run(ready, call);
    } finally {
      calls--;
    }
  }

  async function run(running: Launched, call: InvokeRequest): Promise<InvokeResult> {
    const { tool, entry, input, context, decision, signal, timeoutMs, onProgress } = call;
    const asked = running.ask(
      { type: "invoke", tool, entry, input, context, ...(decision && { decision }) },
      (progress) => {
        const value = parseJson(progress.json);
        if (progress.dropped > 0)
          deps.log.debug({ toolCallId: context.toolCallId, dropped: progress.dropped }, "progress dropped");
        if (value !== undefined) onProgress?.(value);
      },
    );
    const stopped = whenStopped(signal, timeoutMs);
    try {
      const first = await Promise.race([asked.answer, stopped.reason]);
      if (typeof first !== "string") return entry === "apply" ? settleApply(running, first) : settle(running, first);
      asked.cancel(first);
      const late = await within(limits.graceMs, asked.answer);
      // Also when it settled: only its end proves that nothing it started goes on (S4).
      await running.end(first === "timedOut" ? "its call did not finish in time" : "its call was stopped");
      // A write that reports its success when its time is up, or while this process was stopped, did happen (A5).
      const done = entry === "apply" && late ? settle(running, late) : null;
      return done?.kind === "returned" && !isRefusedResponse(done.value) ? done : { kind: first };
    } catch (error) {
      if (error instanceof ProcessLost) return { kind: "lost", reason: error.message };
      throw error;
    } finally {
      stopped.forget();
    }
  }

  function settle(running: Launched, answer: Answer): InvokeResult {
    if (answer.type !== "settled") return { kind: "lost", reason: "it answered something else" };
    const { outcome } = answer;
    const traffic = merge(answer.traffic, deps.egress.of(running.token));
    if (outcome.kind === "threw") return { ...outcome, traffic };
    const value = parseJson(outcome.json);
    if (value !== undefined) return { kind: "returned", value, traffic };
    void running.end("it sent a result that is not JSON");
    return { kind: "lost", reason: "it sent a result that is not JSON" };
  }

  /**
   * An apply that did not succeed may have left something behind, which must not write once it is judged (A5): its
   * process ends, what it sent is counted after that, and what still comes in its name is refused.
   */
  async function settleApply(running: Launched, answer: Answer): Promise<InvokeResult> {
    const result = settle(running, answer);
    if (answer.type !== "settled" || (result.kind === "returned" && !isRefusedResponse(result.value))) return result;
    await running.end("its apply did not succeed");
    const traffic = merge(answer.traffic, deps.egress.of(running.token));
    deps.onLease(running.token, null);
    return "traffic" in result ? { ...result, traffic } : result;
  }

  return {
    render,
    invoke,
    async release() {
      if (released) return;
      released = true;
      await starting?.catch(() => {});
      deps.onLease(child.token, null);
      // A call that still runs has no lease to run under.
      if (calls > 0) await child.end("its lease was released");
      await deps.giveBack(child);
    },
  };
}

const rethrow = (error: unknown): never => {
  throw error instanceof ProcessLost ? new CountersignError("runtime_lost", undefined, { cause: error }) : error;
};

/** Nothing of the tool has run, and the answer vouches for that: an apply is then failed, not in doubt. */
function notStarted(error: unknown, log: Log): InvokeResult {
  if (!(error instanceof CountersignError)) log.error({ err: error }, "a call could not be started");
  const message = error instanceof CountersignError ? error.message : "The process for the agent's code did not start.";
  return { kind: "threw", message, notApplied: true, traffic: { writes: [], opaque: 0 } };
}

const merge = (a: Traffic, b: Traffic): Traffic => ({
  writes: [...a.writes, ...b.writes],
  opaque: a.opaque + b.opaque,
});
