import type { Db } from "../db/pool.ts";
import { newDeliveryId } from "../domain/ids.ts";
import type { OutboundMessage } from "../domain/message.ts";
import type { Session } from "../domain/session.ts";
import type { Wake } from "../ports.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import type { Core, WorkerCore } from "./core.ts";

/** Queues messages for the session's thread, if it has one. */
export async function say(core: Core, db: Db, session: Session, messages: readonly OutboundMessage[]): Promise<Wake[]> {
  const { conversation, id } = session;
  if (!conversation || messages.length === 0) return [];
  await insertDeliveries(
    db,
    messages.map((message) => ({
      id: newDeliveryId(core.ids),
      lane: id,
      sessionId: id,
      decisionId: null,
      conversation,
      message,
      edits: null,
    })),
  );
  return [{ kind: "deliver", id }];
}

/** An answer as messages that fit the session's platform. */
export function answer(core: WorkerCore, session: Session, text: string): OutboundMessage[] {
  const chat = session.conversation && core.chats[session.conversation.provider];
  return chat ? chat.split(text).map((part) => ({ kind: "text", text: part })) : [];
}

/** A short "is working" line. Not awaited: nothing depends on it, and it never throws. */
export function showStatus(core: WorkerCore, { conversation }: Session, text: string): void {
  if (conversation) void core.chats[conversation.provider]?.status(conversation, text);
}
