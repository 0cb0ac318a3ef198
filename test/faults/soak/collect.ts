import type { SlackSimulator } from "../../../src/adapters/slack/simulator/index.ts";
import type { Pool } from "../../../src/core/db/pool.ts";
import { DECISION_STATUSES, type DecisionStatus } from "../../../src/core/domain/decision.ts";
import type { OutboundMessage } from "../../../src/core/domain/message.ts";
import type { EffectLedger } from "../effectLedger.ts";
import { type History, type Posted, readStored, type Said } from "../history.ts";
import type { Operation } from "./client.ts";

/** Everything the checker looks at, as it stands now. */
export async function collect(
  pool: Pool,
  ledger: EffectLedger,
  sim: SlackSimulator,
  operations: readonly Operation[],
): Promise<History> {
  return {
    stored: await readStored(pool),
    effects: await ledger.calls(),
    chat: await readChat(pool, sim),
    said: operations.map(({ what, deliveries }): Said => {
      const acknowledged = deliveries.some(({ attempts }) => attempts.some(({ status }) => status === 200));
      return { ...what, acknowledged };
    }),
  };
}

/** Slack keeps blocks, the database what they were drawn from; a card's state is the one that people see. */
async function readChat(pool: Pool, sim: SlackSimulator): Promise<Posted[]> {
  const { rows } = await pool.query<{ id: string; message: OutboundMessage; ref: string | null }>(
    "select id, message, ref from deliveries",
  );
  const drawn = new Map(rows.map(({ id, message }) => [id, message]));
  // A private note carries no metadata: it is known by its place.
  const notes = sim.ephemerals.flatMap(({ channel, ts }): Posted[] => {
    const ref = `${channel}:${ts}`;
    const note = rows.find((row) => row.ref === ref);
    return note ? [{ ref, deliveryId: note.id, message: note.message }] : [];
  });
  const posts = sim.messages(sim.general).flatMap(({ channel, ts, user, metadata, text }): Posted[] => {
    if (user !== sim.team.botUserId) return [];
    const { delivery_id } = (metadata?.["event_payload"] ?? {}) as { delivery_id?: string };
    const message = drawn.get(delivery_id ?? "") ?? { kind: "text", text: "" };
    const shown = message.kind === "card" ? { ...message, card: { ...message.card, status: statusOf(text) } } : message;
    return [{ ref: `${channel}:${ts}`, deliveryId: delivery_id ?? "", message: shown }];
  });
  return [...posts, ...notes];
}

/** From the card's last word: `… (applied)`. */
function statusOf(text: string): DecisionStatus {
  const word = /\((.+)\)$/.exec(text)?.[1];
  if (word === "being applied") return "applying";
  return DECISION_STATUSES.find((status) => status === word) ?? "pending";
}
