import type { EventData, SessionEvent } from "./event.ts";
import { type AgentInput, inputText } from "./input.ts";
import type { Json } from "./json.ts";

/**
 * The conversation as a model sees it, free of any provider's shape. Every tool call of an assistant message has
 * exactly one result in the tool message right behind it (I10).
 */
export type HistoryMessage =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly HistoryCall[];
      readonly reasoning?: Json;
    }
  | { readonly role: "tool"; readonly results: readonly HistoryResult[] };

export interface HistoryCall {
  /** Our call id, unique within the session whatever ids the model repeats (T3). */
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
}

export interface HistoryResult {
  readonly callId: string;
  readonly tool: string;
  readonly failed: boolean;
  readonly output: Json;
}

/** A call whose result is not in the log yet. */
export interface OpenCall extends HistoryCall {
  readonly messageId: string;
  readonly turnId: string;
  /** The model's arguments were not JSON. */
  readonly malformed?: string;
}

interface Step {
  readonly turnId: string;
  readonly text: string;
  readonly reasoning?: Json;
  readonly calls: readonly OpenCall[];
  readonly results: Map<string, HistoryResult>;
}

/**
 * Folds a session's log into the history of its next model step. The words of a turn stand where the turn started, not
 * where they arrived. `open` are the calls of the last step that have no result: a resumed turn runs them again under
 * the same ids; only when it is empty may a model be called.
 */
export function foldHistory(events: readonly SessionEvent[]): { history: HistoryMessage[]; open: OpenCall[] } {
  const inputs = new Map<string, AgentInput>();
  const said: (HistoryMessage | Step)[] = [];
  let step: Step | null = null;

  for (const event of events) {
    const { data } = event;
    switch (event.type) {
      case "message.received":
        if (event.turnId !== undefined) inputs.set(event.turnId, data as unknown as AgentInput);
        break;
      case "turn.started": {
        const input = event.turnId === undefined ? undefined : inputs.get(event.turnId);
        if (input) said.push({ role: "user", text: inputText(input) });
        break;
      }
      case "turn.steered":
        if (typeof data.text === "string") said.push({ role: "user", text: data.text });
        break;
      case "message.completed":
        step = toStep(data, event.turnId ?? "");
        said.push(step);
        break;
      case "tool.completed":
      case "tool.failed":
        step?.results.set(String(data.callId), toResult(data, event.type === "tool.failed"));
        break;
      case "turn.completed":
      case "turn.failed":
      case "turn.cancelled":
        // Nobody resumes a turn that has ended, so nothing of it is open.
        if (step !== null && event.turnId === step.turnId) step = null;
        break;
      default:
        break;
    }
  }

  const open = step ? step.calls.filter((call) => !step?.results.has(call.callId)) : [];
  return { history: said.flatMap((message) => ("role" in message ? [message] : toMessages(message))), open };
}

function toStep(data: EventData, turnId: string): Step {
  const calls = (data.calls ?? []) as unknown as (HistoryCall & { malformed?: string })[];
  const messageId = String(data.messageId);
  return {
    turnId,
    text: typeof data.text === "string" ? data.text : "",
    ...(data.reasoning !== undefined && { reasoning: data.reasoning }),
    calls: calls.map((call) => ({ ...call, messageId, turnId })),
    results: new Map(),
  };
}

function toResult(data: EventData, failed: boolean): HistoryResult {
  return {
    callId: String(data.callId),
    tool: String(data.tool),
    failed,
    output: (failed ? data.message : data.output) ?? null,
  };
}

/** Results stand in the order of their calls, whatever order they came in; a call without one is left out with it. */
function toMessages({ text, reasoning, calls, results }: Step): HistoryMessage[] {
  const answered = calls.filter((call) => results.has(call.callId));
  if (text === "" && answered.length === 0) return [];
  const assistant: HistoryMessage = {
    role: "assistant",
    text,
    calls: answered.map(({ callId, tool, input }) => ({ callId, tool, input })),
    ...(reasoning !== undefined && { reasoning }),
  };
  if (answered.length === 0) return [assistant];
  return [assistant, { role: "tool", results: answered.flatMap((call) => results.get(call.callId) ?? []) }];
}
