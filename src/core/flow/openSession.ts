import type { Db } from "../db/pool.ts";
import { CountersignError } from "../domain/errors.ts";
import type { InputSource } from "../domain/input.ts";
import { type Conversation, threadKey } from "../domain/message.ts";
import type { Session } from "../domain/session.ts";
import { findActiveDeployment } from "../store/deployments.ts";
import { appendEvents } from "../store/events.ts";
import { insertSession, lockSession } from "../store/sessions.ts";

export interface OpenSession {
  readonly id: string;
  /** Null: the project's first agent. */
  readonly agentId: string | null;
  readonly source: InputSource;
  readonly conversation: Conversation | null;
}

/** Opens a session on the active deployment (S1). Null: the thread got an open session in the meantime. */
export async function openSession(db: Db, { id, agentId, source, conversation }: OpenSession): Promise<Session | null> {
  const deployment = await findActiveDeployment(db);
  const agent = deployment?.manifest.agents.find((a) => agentId === null || a.id === agentId);
  if (!deployment || !agent) throw new CountersignError("agent_unknown");
  const opened = await insertSession(db, {
    id,
    agentId: agent.id,
    deploymentId: deployment.id,
    source,
    conversation,
    threadKey: conversation && threadKey(conversation),
  });
  if (!opened) return null;
  await appendEvents(db, {
    sessionId: id,
    events: [{ type: "session.created", data: { agentId: agent.id, deploymentId: deployment.id, source } }],
  });
  return lockSession(db, id);
}
