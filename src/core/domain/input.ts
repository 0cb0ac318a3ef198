import type { Json } from "./json.ts";
import type { ChatProvider } from "./message.ts";

export type InputSource = "user" | "channel" | "schedule" | "webhook" | "subagent" | "system" | "event";

/** What `useInput()` returns for one turn (contract, section 2). */
export interface AgentInput {
  readonly source: InputSource;
  readonly text?: string;
  readonly payload?: Json;
  readonly answer?: { readonly questionId: string; readonly text: string; readonly value?: string };
  readonly steering?: readonly Steering[];
  readonly channel?: {
    readonly provider: ChatProvider;
    readonly connectionId: string;
    readonly workspaceId: string;
    readonly conversationId: string;
    readonly userId: string;
  };
  readonly schedule?: Json;
  readonly webhook?: Json;
  readonly event?: Json;
}

export interface Steering {
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
}

/** The newest 20 of what was written before a question, 4,000 characters of each (contract, section 2). */
export const STEERING_LIMITS = { messages: 20, characters: 4_000 } as const;

export const boundSteering = (steering: readonly Steering[]): Steering[] =>
  steering
    .slice(-STEERING_LIMITS.messages)
    .map(({ text, receivedAt }) => ({ text: [...text].slice(0, STEERING_LIMITS.characters).join(""), receivedAt }));

/** What a model reads of an input, as the words of one user message. */
export function inputText(input: AgentInput): string {
  const parts: string[] = [];
  if (input.answer) {
    const { text, value } = input.answer;
    parts.push(value === undefined || value === text ? `Answer: ${text}` : `Answer: ${text} (${value})`);
  } else if (input.text) {
    parts.push(input.text);
  }
  if (input.payload !== undefined && input.payload !== null) parts.push(JSON.stringify(input.payload));
  if (input.steering && input.steering.length > 0) {
    parts.push(["Written before the question was posted:", ...input.steering.map((s) => `- ${s.text}`)].join("\n"));
  }
  return parts.join("\n\n");
}
