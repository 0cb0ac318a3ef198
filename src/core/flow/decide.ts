import type { Db } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { mayDecide } from "../domain/deciders.ts";
import type { Decision } from "../domain/decision.ts";
import { CountersignError, type ErrorCode } from "../domain/errors.ts";
import type { Conversation, Person } from "../domain/message.ts";
import { isIn, type Session } from "../domain/session.ts";
import type { Wake } from "../ports.ts";
import { authoriseAgain, findAgainBy } from "../store/attempts.ts";
import { approveDecision, expireDecision, findDecision, rejectDecision } from "../store/decisions.ts";
import { appendEvents } from "../store/events.ts";
import { lockSession } from "../store/sessions.ts";
import { redrawCard } from "./card.ts";
import type { Core } from "./core.ts";
import { reportOutcome } from "./reportOutcome.ts";
import type { Standing } from "./standing.ts";

export interface Decide {
  readonly decisionId: string;
  readonly verb: "approve" | "reject" | "run-again";
  readonly by: Person;
  readonly reason?: string;
  /** The beginning of the digest of the card that was decided on; the API decides on the stored one. */
  readonly card?: string;
  /** Where the click came from: it has to be the workspace its card stands in. */
  readonly from?: Conversation;
  /** What the platform says of `by`; absent, they are in no group. */
  readonly standing?: Standing | undefined;
}

export type Decided =
  | { readonly ok: true; readonly decision: Decision; readonly wakes: Wake[] }
  /** Nothing changed. `message` says who won, or why not. */
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly wakes: Wake[] };

/**
 * One person's word on one decision (A4, A6, A7), part of the transaction that received it. Each arrow is one
 * conditional update; whoever changes no row has lost and is told who won.
 */
export async function decideLocked(core: Core, db: Db, word: Decide): Promise<Decided> {
  const known = await findDecision(db, word.decisionId);
  const session = known && (await lockSession(db, known.sessionId));
  if (!known || !session || (word.from && !isIn(session, word.from))) return refused("not_found");
  const { memberOf, refusal } = word.standing ?? {};
  const right = mayDecide(known, word.by, session.conversation, memberOf);
  if (!right) return refused(refusal?.code ?? "decision_not_yours", refusal?.message);

  const card = word.card ?? known.cardDigest;
  const said = { by: word.by, right, cardPrefix: card };
  switch (word.verb) {
    case "approve": {
      const approved = await approveDecision(db, known.id, said);
      if (!approved) return lost(core, db, session, known.id, card);
      await appendEvents(db, {
        sessionId: session.id,
        events: [{ type: "approval.approved", turnId: approved.turnId, data: { ...decidedData(approved), right } }],
      });
      return {
        ok: true,
        decision: approved,
        wakes: [{ kind: "apply", id: approved.id }, ...(await redrawCard(core, db, approved))],
      };
    }
    case "reject": {
      const rejected = await rejectDecision(db, known.id, said, word.reason ?? null);
      if (!rejected) return lost(core, db, session, known.id, card);
      return { ok: true, decision: rejected, wakes: await reportOutcome(core, db, session, rejected, { right }) };
    }
    case "run-again": {
      const again = await authoriseAgain(db, known.id, said);
      if (again) return { ok: true, decision: again, wakes: [{ kind: "apply", id: again.id }] };
      const by = await findAgainBy(db, known.id);
      return by
        ? refused("decision_already_made", `Already being run again, by ${nameOf(by)}.`)
        : lost(core, db, session, known.id, card);
    }
  }
}

/** POST /decisions/:id/approve, reject, run-again. A refusal may have wakes, too: a decision may expire under it. */
export const decideByApi = (core: Core, word: Decide): Promise<Decided> =>
  withTx(core.pool, (db) => decideLocked(core, db, word));

const decidedData = (decision: Decision) => ({
  decisionId: decision.id,
  callId: decision.callId,
  tool: decision.tool,
  ...(decision.decidedBy && { by: { ...decision.decidedBy } }),
});

const nameOf = (person: Person): string => person.name ?? person.userId;

function refused(code: ErrorCode, message?: string): Decided {
  return { ok: false, code, message: message ?? new CountersignError(code).message, wakes: [] };
}

/** Why no row changed, as it stands now. A pending one whose time is over expires here and now. */
async function lost(core: Core, db: Db, session: Session, id: string, card: string): Promise<Decided> {
  const expired = await expireDecision(db, id);
  if (expired) {
    const wakes = await reportOutcome(core, db, session, expired);
    return { ok: false, code: "decision_expired", message: new CountersignError("decision_expired").message, wakes };
  }
  const now = await findDecision(db, id);
  if (!now) return refused("not_found");
  if (!now.cardDigest.startsWith(card)) return refused("decision_changed");
  if (now.status === "pending") return refused("decision_already_made", "Nothing ran yet; decide on its card first.");
  if (now.status === "expired") return refused("decision_expired");
  const who = now.decidedBy ? nameOf(now.decidedBy) : "somebody";
  return refused("decision_already_made", `Already decided by ${who}: it is ${now.status}.`);
}
