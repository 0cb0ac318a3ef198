import type { Traffic } from "./domain/decision.ts";
import type { ErrorCode } from "./domain/errors.ts";
import type { HistoryMessage } from "./domain/history.ts";
import type { AgentInput } from "./domain/input.ts";
import type { Json } from "./domain/json.ts";
import type { ChatProvider, Conversation, OutboundMessage } from "./domain/message.ts";

/** What core needs from outside. Fakes exist at these seams only; each has one contract suite in test/contract. */

// ------------------------------------------------------------------------------------------------------------ log

/** Pino's shape. `fields` hold ids and reasons; secrets and message text never reach a log. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

// ---------------------------------------------------------------------------------------------------------- clock

export interface Clock {
  /** Milliseconds since the epoch; for delays of this process only. What is stored is timed by the database. */
  now(): number;
}

// ---------------------------------------------------------------------------------------------------------- queue

export const WAKE_KINDS = ["turn", "apply", "verify", "deliver"] as const;
export type WakeKind = (typeof WAKE_KINDS)[number];

/** A doorbell: says that a row may have work, and nothing about it. `deliver` names a lane, the others a row. */
export interface Wake {
  readonly kind: WakeKind;
  readonly id: string;
  /** Ring after this many milliseconds; absent: at once. */
  readonly delayMs?: number;
  /** Of those that wait: lower goes first. Absent: 0. */
  readonly priority?: number;
}

export interface JobQueue {
  /** Rings; resolves when the queue has them. May lose or repeat a wake: the sweeper rings again. */
  wake(wakes: readonly Wake[]): Promise<void>;
  /** Calls `handler` for every wake of `kind`, at most `concurrency` at once in this process. A throw is logged, never retried. */
  consume(kind: WakeKind, concurrency: number, handler: (id: string) => Promise<void>): Promise<void>;
  /** Jobs waiting, active and delayed by kind, for the admin page. */
  counts(): Promise<Record<WakeKind, { waiting: number; active: number; delayed: number }>>;
  /** Round trip to the backend, for readiness. Rejects when it cannot be reached. */
  ping(): Promise<void>;
  /** Takes no more wakes, at once; resolves when the handlers that run have ended. What is rung still goes out. */
  stop(): Promise<void>;
  /** Stops, then closes. Safe to call twice. */
  close(): Promise<void>;
}

// ----------------------------------------------------------------------------------------------------------- chat

export interface Outgoing {
  /** The delivery's id, a UUID: it travels with the message, so that the message can be found again. */
  readonly deliveryId: string;
  readonly conversation: Conversation;
  readonly message: OutboundMessage;
  /** Set: replace the message of this ref instead of posting a new one. */
  readonly editRef?: string;
}

export type SendResult =
  | { readonly outcome: "sent"; readonly ref: string }
  /** The platform said no for now, or a limit it told us of is not over; nothing was posted. */
  | { readonly outcome: "retry"; readonly code: string; readonly afterMs?: number }
  /** The request left and no answer came: it may have been posted. */
  | { readonly outcome: "unknown"; readonly code: string }
  /** It will never be accepted. */
  | { readonly outcome: "dead"; readonly code: string };

export interface ChatSender {
  readonly provider: ChatProvider;
  send(outgoing: Outgoing): Promise<SendResult>;
  /** After an unknown outcome: is the message there? `unknown`: the platform cannot say now; `never`: it never can. */
  find(outgoing: Outgoing): Promise<{ found: true; ref: string } | { found: false | "unknown" | "never" }>;
  /** A short-lived "is working" line; best effort, never throws. Empty text clears it. */
  status(conversation: Conversation, text: string): Promise<void>;
  /** Cuts an answer into what fits one message each, in order; pure. */
  split(markdown: string): string[];
}

// ------------------------------------------------------------------------------------------------------ directory

/**
 * Who is who in one workspace of a platform, as far as the right to decide depends on it (A7). Never throws, and
 * answers within about a second: somebody clicked and waits. What it says may be a few seconds old; the adapter says
 * how many.
 */
export interface Directory {
  readonly provider: ChatProvider;
  readonly workspaceId: string;
  user(id: string): Promise<LookUp<DirectoryUser>>;
  group(id: string): Promise<LookUp<DirectoryGroup>>;
  /** The user ids of a group; a group that is not in use is not found, or has none. */
  members(groupId: string): Promise<LookUp<readonly string[]>>;
}

export interface DirectoryUser {
  /** As people call them; plain text that hides nothing. */
  readonly name: string;
  /** Their own workspace, which is another one for somebody who is only connected to this one. */
  readonly workspaceId: string;
  /** False once they were deactivated. */
  readonly active: boolean;
}

export interface DirectoryGroup {
  /** As people write it, `@finance`. */
  readonly name: string;
  /** False while it is disabled. */
  readonly active: boolean;
}

export type LookUp<T> =
  | { readonly found: true; readonly value: T }
  | { readonly found: false }
  /** The platform cannot say now. `why`: a clause for operators, and what to do about it where that is known. */
  | { readonly found: "unknown"; readonly why: string };

// ---------------------------------------------------------------------------------------------------------- model

export interface ModelRequest {
  /** `provider/model`, e.g. `anthropic/claude-sonnet-4.6`; null: the agent named none. */
  readonly model: string | null;
  readonly instructions: string;
  readonly history: readonly HistoryMessage[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly input: Json }[];
  readonly signal: AbortSignal;
}

export interface ModelStep {
  readonly text: string;
  readonly calls: readonly {
    /** The provider's id; ours replaces it. */
    readonly providerCallId: string;
    readonly tool: string;
    readonly input: Json;
    /** The model's arguments were not JSON: the call fails with this reason and the model may try again. */
    readonly malformed?: string;
  }[];
  /** Opaque parts a provider wants back with the next step (signed reasoning). */
  readonly reasoning?: Json;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** The model that answered, as `provider/model`; `demo/scripted` for the demo model. */
  readonly model: string;
}

export interface ModelPort {
  /** One step. Throws `CountersignError` (`model_unavailable`, `model_refused`, `model_rate_limited`) or the signal's reason. */
  step(request: ModelRequest): Promise<ModelStep>;
}

// -------------------------------------------------------------------------------------------------------- runtime

export interface LeaseRequest {
  readonly deploymentId: string;
  readonly agentId: string;
  readonly sessionId: string;
}

/** One child process, held for one session at a time; its working directory is the session's workspace. */
export interface Runtime {
  /** Calls the agent function. Throws `agent_load_failed`, `agent_render_failed` or `runtime_lost`. */
  render(request: RenderRequest): Promise<Rendered>;
  /** Calls `run`, `preview` or `apply` of a tool. Never throws for what the tool does; see `InvokeResult`. */
  invoke(request: InvokeRequest): Promise<InvokeResult>;
  /** Gives the child back for the next session, or ends it when it was harmed. */
  release(): Promise<void>;
}

export interface RenderRequest {
  readonly input: AgentInput;
  readonly sessionData: Readonly<Record<string, Json>>;
}

export interface Rendered {
  readonly instructions: string;
  readonly model: string | null;
  /** In the order selected; `builtin` has only the id. */
  readonly tools: readonly RenderedTool[];
}

export type RenderedTool =
  | {
      readonly kind: "run" | "approval";
      readonly name: string;
      readonly description: string;
      readonly input: Json;
      readonly verifies: boolean;
      /** The agent's result tool (T6). */
      readonly result?: true;
    }
  | { readonly kind: "builtin"; readonly id: string };

export interface InvokeRequest {
  readonly tool: string;
  readonly entry: "run" | "preview" | "apply" | "verify";
  /** The exact JSON text of the arguments. */
  readonly input: string;
  readonly context: {
    readonly sessionId: string;
    readonly messageId: string;
    readonly toolCallId: string;
    readonly agentId: string;
  };
  readonly decision?: { readonly id: string; readonly decidedAt: string; readonly decidedBy?: Json };
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (metadata: Json) => void;
}

export type InvokeResult =
  /** `value` is JSON-compatible: checked in the child (T5); a `Response` was read into `{status, ok, body}`. */
  | { readonly kind: "returned"; readonly value: Json; readonly traffic: Traffic }
  /** The tool threw, or returned what is not JSON. `message` holds no stack. */
  | { readonly kind: "threw"; readonly message: string; readonly notApplied: boolean; readonly traffic: Traffic }
  /** No answer within `timeoutMs`, or the signal fired; the child was told to stop, then ended. */
  | { readonly kind: "timedOut" | "aborted" }
  /** The child exited, or was killed. */
  | { readonly kind: "lost"; readonly reason: string };

export interface RuntimePort {
  lease(request: LeaseRequest, signal: AbortSignal): Promise<Runtime>;
  /** Ends every child; resolves when they are gone. */
  close(): Promise<void>;
}

// --------------------------------------------------------------------------------------------------- tools of ours

/** Tools that run in the gateway, beside an agent's own: a skill, a command, a tool of an MCP server. */
export interface ToolProvider {
  /** What it offers in this step. Never throws: what cannot be offered now is left out, and the log says why. */
  offer(request: OfferRequest): Promise<readonly ProvidedTool[]>;
}

export interface OfferRequest {
  readonly sessionId: string;
  readonly agentId: string;
  readonly deploymentId: string;
  readonly rendered: Rendered;
  readonly signal: AbortSignal;
}

export interface ProvidedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; `run` is called with arguments that fit it. */
  readonly input: Json;
  run(call: ProvidedCall): Promise<ProvidedOutcome>;
}

export interface ProvidedCall {
  readonly callId: string;
  readonly messageId: string;
  readonly input: Json;
  /** It was begun before, by a worker that is gone. */
  readonly again: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (metadata: Json) => void;
}

export type ProvidedOutcome =
  | { readonly kind: "completed"; readonly output: Json }
  /** `message` is what the model reads. */
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string };
