import { backoffMs } from "../domain/backoff.ts";
import {
  type ClaimedDelivery,
  MAX_LOOK_UPS,
  OUTCOME_UNKNOWN,
  patienceMs,
  priorityOf,
  retryAfterMs,
} from "../domain/delivery.ts";
import type { ChatSender, Outgoing, SendResult } from "../ports.ts";
import { claimNextDelivery, findRef, markDead, markSent, markUnknown, requeueDelivery } from "../store/deliveries.ts";
import type { WorkerCore } from "./core.ts";

/**
 * Sends what waits in one lane, in order, until nothing is due. What may have been posted already is looked for on the
 * platform before anything is posted again (G5). A worker that shuts down finishes what it has in hand and leaves the
 * rest of the lane to the next.
 */
export async function deliver(core: WorkerCore, lane: string): Promise<void> {
  for (;;) {
    if (core.leases.closing()) return core.ring([{ kind: "deliver", id: lane }]);
    const asked = performance.now();
    const delivery = await claimNextDelivery(core.pool, lane, core.limits.leaseMs);
    if (!delivery) return;
    // A worker that was paused since then may have been given up, and this message be posted by another: it is left to
    // the sweeper, who has it looked for. No fence can stop a request, so one has to leave while its claim is fresh (G5).
    if (performance.now() - asked > core.limits.leaseMs / 2) return;
    const delayMs = await deliverOne(core, delivery);
    if (delayMs !== null) {
      await core.ring([{ kind: "deliver", id: lane, delayMs, priority: priorityOf(delivery.message) }]);
      return;
    }
  }
}

/** Null: settled, the lane goes on. A number: not settled, look again after so many milliseconds. */
async function deliverOne(core: WorkerCore, delivery: ClaimedDelivery): Promise<number | null> {
  const chat = core.chats[delivery.conversation.provider];
  if (!chat) return dead(core, delivery, "no_such_platform");
  // A claim that waited while the message before it was marked as sent has still seen it unsent.
  const editRef = delivery.editRef ?? (delivery.edits && (await findRef(core.pool, delivery.edits)));
  // The message it edits is not there and will not be: order holds, so it was dead before this came up.
  if (delivery.edits !== null && editRef === null) return dead(core, delivery, "nothing_to_edit");
  const outgoing: Outgoing = {
    deliveryId: delivery.id,
    conversation: delivery.conversation,
    message: delivery.message,
    ...(editRef !== null && { editRef }),
  };
  return delivery.was === "unknown" ? look(core, delivery, chat, outgoing) : post(core, delivery, chat, outgoing);
}

async function post(
  core: WorkerCore,
  delivery: ClaimedDelivery,
  chat: ChatSender,
  outgoing: Outgoing,
): Promise<number | null> {
  const result = await chat.send(outgoing).catch((error): SendResult => {
    core.log.error({ err: error, delivery: delivery.id }, "a sender threw");
    return { outcome: "unknown", code: "sender_threw" };
  });
  switch (result.outcome) {
    case "sent":
      await markSent(core.pool, delivery, result.ref);
      return null;
    case "dead":
      return dead(core, delivery, result.code);
    case "retry": {
      if (delivery.ageMs >= patienceMs(delivery.message)) return dead(core, delivery, result.code);
      const delayMs = retryAfterMs(result.afterMs, backoffMs(delivery.attempt, core.random()));
      await requeueDelivery(core.pool, delivery, result.code, delayMs);
      return delayMs;
    }
    case "unknown": {
      // An edit puts the same content into the same place: doing it twice is doing it once.
      const delayMs = backoffMs(delivery.attempt, core.random());
      if (delivery.edits !== null) await requeueDelivery(core.pool, delivery, result.code, delayMs);
      else await markUnknown(core.pool, delivery, result.code, delayMs);
      return delayMs;
    }
  }
}

async function look(
  core: WorkerCore,
  delivery: ClaimedDelivery,
  chat: ChatSender,
  outgoing: Outgoing,
): Promise<number | null> {
  if (delivery.edits !== null) {
    await requeueDelivery(core.pool, delivery, "edit_repeated", 0);
    return 0;
  }
  const found = await chat.find(outgoing).catch(() => ({ found: "unknown" }) as const);
  if (found.found === true) {
    await markSent(core.pool, delivery, found.ref);
    return null;
  }
  if (found.found === false) {
    await requeueDelivery(core.pool, delivery, "not_found_after_unknown", 0);
    return 0;
  }
  if (found.found === "never" || delivery.attempt >= MAX_LOOK_UPS) return dead(core, delivery, OUTCOME_UNKNOWN);
  const delayMs = backoffMs(delivery.attempt, core.random());
  await markUnknown(core.pool, delivery, "lookup_failed", delayMs);
  return delayMs;
}

async function dead(core: WorkerCore, delivery: ClaimedDelivery, code: string): Promise<null> {
  await markDead(core.pool, delivery, code);
  core.log.error(
    { delivery: delivery.id, session: delivery.sessionId, code },
    "a message was given up and is shown to operators",
  );
  return null;
}
