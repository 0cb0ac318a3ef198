import { isRefusedResponse } from "../../domain/decision.ts";
import type { FromChild, Invocation, Outcome, Settled } from "../protocol.ts";
import type { Agent } from "./agent.ts";
import { messageOf, saysNotApplied } from "./failure.ts";
import type { OpaqueWatch } from "./opaqueTraffic.ts";
import { createProgressLine } from "./progress.ts";
import { progressText, resultText } from "./result.ts";
import { Attempt, type Attribution } from "./traffic.ts";

export interface InvokerDeps {
  readonly agent: () => Agent | null;
  readonly attribution: Attribution;
  readonly opaque: OpaqueWatch;
  readonly send: (message: FromChild) => void;
  /** Sends, and stops this process for good. */
  readonly sendLast: (message: FromChild) => void;
}

export interface Invoker {
  invoke(id: number, invocation: Invocation): void;
  cancel(id: number, reason: "timedOut" | "aborted"): void;
  /** Settles the calls that an uncaught error belongs to, without sending: it travels with the news of the harm. */
  fail(thrown: unknown): Settled[];
}

interface Running {
  readonly abort: AbortController;
  readonly attempt: Attempt;
  /** Ends the call; null when it was settled before. */
  settle(outcome: Outcome): Settled | null;
}

interface Begun extends Running {
  reportProgress(value: unknown): Promise<void>;
}

/** Calls tools. Each call is answered exactly once, whatever the tool does. */
export function createInvoker({ agent, attribution, opaque, send, sendLast }: InvokerDeps): Invoker {
  const calls = new Map<number, Running>();

  function begin(id: number): Begun {
    const attempt = new Attempt();
    const endOpaque = opaque.begin(attempt);
    const progress = createProgressLine((json, dropped) => send({ type: "progress", id, json, dropped }));
    let refused: string | null = null;
    const settle = (outcome: Outcome): Settled | null => {
      if (!calls.delete(id)) return null;
      progress.end();
      endOpaque();
      attribution.end(attempt);
      // A tool that swallowed the refusal of its progress still failed (T5).
      const told = refused === null || outcome.kind === "threw" ? outcome : threw(refused);
      return { id, outcome: told, traffic: attempt.read() };
    };
    const reportProgress = (value: unknown) => {
      const text = progressText(value);
      if (text.ok) {
        progress.report(text.json);
        return Promise.resolve();
      }
      refused ??= text.message;
      const rejection = Promise.reject(new TypeError(text.message));
      rejection.catch(() => {});
      return rejection;
    };
    const running = { abort: new AbortController(), attempt, settle, reportProgress };
    calls.set(id, running);
    return running;
  }

  async function outcomeOf({ attempt, abort, reportProgress }: Begun, invocation: Invocation): Promise<Outcome> {
    const { tool: name, entry, input, context, decision } = invocation;
    const tool = agent()?.tools.get(name);
    const fn = tool?.[entry];
    if (typeof fn !== "function") return threw(`The agent has no tool ${JSON.stringify(name)} with ${entry}.`);
    const given = { ...context, signal: abort.signal, reportProgress, ...(decision && { decision }) };
    try {
      const argument = { input: JSON.parse(input), ...given };
      const text = await attribution.run(attempt, async () => resultText(await fn.call(tool, argument)));
      return text.ok ? { kind: "returned", json: text.json } : threw(text.message);
    } catch (error) {
      return threw(messageOf(error), saysNotApplied(error));
    }
  }

  async function call(id: number, invocation: Invocation): Promise<void> {
    const begun = begin(id);
    const settled = begun.settle(await outcomeOf(begun, invocation));
    if (!settled) return;
    // `failed` says that nothing was written: so nothing that an apply left behind may go on behind its report (A5).
    const tell = invocation.entry === "apply" && !succeeded(settled.outcome) ? sendLast : send;
    tell({ type: "settled", ...settled });
  }

  return {
    invoke: (id, invocation) => void call(id, invocation),
    cancel(id, reason) {
      const [name, message] =
        reason === "timedOut" ? ["TimeoutError", "The call's time is up."] : ["AbortError", "The call was stopped."];
      calls.get(id)?.abort.abort(new DOMException(message, name));
    },
    fail(thrown) {
      const guilty = attribution.current();
      return [...calls.values()]
        .filter(({ attempt }) => guilty.includes(attempt))
        .flatMap(({ settle }) => settle(threw(messageOf(thrown))) ?? []);
    },
  };
}

const succeeded = (outcome: Outcome): boolean =>
  outcome.kind === "returned" && !isRefusedResponse(JSON.parse(outcome.json));

const threw = (message: string, notApplied = false): Outcome => ({ kind: "threw", message, notApplied });
