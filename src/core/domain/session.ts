import type { InputSource } from "./input.ts";
import type { Json } from "./json.ts";
import type { Conversation } from "./message.ts";

/**
 *     idle ◀──settle── running ──interrupt──▶ stopping ──settle──▶ idle
 *       │     claim ──▶    │                      │
 *       └──────── end ─────┴──────────────────────┘──▶ ended      (failed: the deployment can serve it no more)
 */
export type SessionStatus = "idle" | "running" | "stopping" | "ended" | "failed";

export const isOpen = (status: SessionStatus): boolean => status !== "ended" && status !== "failed";

/** Whether a conversation is in the workspace the session lives in: what is clicked elsewhere is none of its own. */
export const isIn = ({ conversation }: Session, { provider, workspaceId }: Conversation): boolean =>
  conversation?.provider === provider && conversation.workspaceId === workspaceId;

export interface Session {
  readonly id: string;
  readonly agentId: string;
  /** The deployment it was created on and stays on (S1). */
  readonly deploymentId: string;
  readonly source: InputSource;
  readonly status: SessionStatus;
  /** Null where the session lives in no chat. */
  readonly conversation: Conversation | null;
  readonly data: Readonly<Record<string, Json>>;
  readonly result: Json;
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}
