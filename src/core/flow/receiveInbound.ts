import type { Client } from "../db/pool.ts";
import { again, withTx } from "../db/withTx.ts";
import { newDeliveryId, newId } from "../domain/ids.ts";
import {
  type Conversation,
  type InboundClick,
  type InboundEvent,
  type InboundMessage,
  type Person,
  personKey,
} from "../domain/message.ts";
import { matchOption, type Question } from "../domain/question.ts";
import { isIn, isOpen } from "../domain/session.ts";
import type { Wake } from "../ports.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import { recordReceived, takeMessage } from "../store/inbox.ts";
import { findOpenQuestion, findQuestion } from "../store/questions.ts";
import { insertPerson, lockOpenThread, lockSession, ownsPost } from "../store/sessions.ts";
import { chosen, recordAnswer } from "./answerQuestion.ts";
import type { Core } from "./core.ts";
import { decideLocked } from "./decide.ts";
import { endLocked } from "./endSession.ts";
import { newTurn, queueTurn } from "./queueTurn.ts";
import { type Standing, standingOf } from "./standing.ts";

export type Received =
  | { readonly status: "received"; readonly sessionId: string | null; readonly wakes: Wake[] }
  | { readonly status: "duplicate" | "ignored"; readonly reason: string; readonly wakes: Wake[] };

/**
 * Takes in one thing a platform told us, in one transaction: it was here before, or it becomes a turn, an answer, a
 * decision, or a private note to whoever wrote or clicked in vain. The platform is answered after the commit (G2).
 */
export async function receiveInbound(core: Core, event: InboundEvent): Promise<Received> {
  switch (event.kind) {
    case "ignored":
      return { status: "ignored", reason: event.reason, wakes: [] };
    case "message":
      return receiveMessage(core, event);
    case "click": {
      const standing = await standingOf(core, event);
      return withTx(core.pool, (db) => receiveClick(core, db, event, standing));
    }
  }
}

const ignored = (reason: string): Received => ({ status: "ignored", reason, wakes: [] });
const DUPLICATE: Received = { status: "duplicate", reason: "received before", wakes: [] };

// --------------------------------------------------------------------------------------------------------- messages

async function receiveMessage(core: Core, message: InboundMessage): Promise<Received> {
  const followUp = message.address === "follow-up";
  if (followUp && message.forSomebodyElse) return ignored("begins by mentioning somebody else");
  const conversation = await homeOf(core, message);
  if (message.startsOver) return withTx(core.pool, (db) => startOver(core, db, message, conversation));

  const { person, dedupe } = message;
  const turn = newTurn(core, { input: inputOf(message, conversation), person });
  const newSessionId = newId(core.ids, "ses");
  const taken = await again(() =>
    takeMessage(core.pool, { keys: dedupe, conversation, person, followUp, newSessionId, turn }),
  );
  switch (taken.outcome) {
    case "queued":
      return { status: "received", sessionId: taken.sessionId, wakes: [{ kind: "turn", id: taken.sessionId }] };
    case "duplicate":
      return DUPLICATE;
    case "unbound":
      return ignored("no session in this thread");
    case "stranger":
      return ignored("written by somebody who does not talk with the agent here");
    case "question": {
      const received = await withTx(core.pool, (db) => receiveReply(core, db, taken.sessionId, message, conversation));
      return received ?? receiveMessage(core, message);
    }
  }
}

/** A message while a question is open: the answer, if it is for who wrote it. Null: the session has ended meanwhile. */
async function receiveReply(
  core: Core,
  db: Client,
  sessionId: string,
  message: InboundMessage,
  conversation: Conversation,
): Promise<Received | null> {
  const { person, text } = message;
  const session = await lockSession(db, sessionId);
  if (!session || !isOpen(session.status)) return null;
  if (!(await recordReceived(db, message.dedupe, sessionId))) return DUPLICATE;
  await insertPerson(db, sessionId, personKey(person));

  const input = inputOf(message, conversation);
  const question = await findOpenQuestion(db, sessionId);
  if (question && isFor(question, person)) {
    const option = matchOption(question.options, text);
    const said = option ? chosen(option) : { text };
    const { wakes } = await recordAnswer(core, db, session, question, { ...said, by: person, channel: input.channel });
    return { status: "received", sessionId, wakes };
  }
  // What others type waits behind the question: it stays open (Q5).
  const { wakes } = await queueTurn(core, db, { sessionId, input, person });
  return { status: "received", sessionId, wakes };
}

const inputOf = ({ text, person, payload }: InboundMessage, conversation: Conversation) => ({
  source: "channel" as const,
  text,
  channel: { ...conversation, userId: person.userId },
  ...(payload !== undefined && { payload }),
});

/** A threaded direct message belongs to the unthreaded conversation when it answers one of that session's posts (G4). */
async function homeOf(core: Core, { conversation, parent }: InboundMessage): Promise<Conversation> {
  if (!parent) return conversation;
  const { provider, workspaceId } = parent.conversation;
  const inboxKey = `${provider}:post:${workspaceId}:${parent.rootRef}`;
  return (await ownsPost(core.pool, parent.conversation, parent.rootRef, inboxKey))
    ? parent.conversation
    : conversation;
}

const isFor = (question: Question, person: Person): boolean =>
  question.person !== null && personKey(question.person) === personKey(person);

async function startOver(
  core: Core,
  db: Client,
  { dedupe, person }: InboundMessage,
  conversation: Conversation,
): Promise<Received> {
  const session = await lockOpenThread(db, conversation);
  if (!(await recordReceived(db, dedupe, session?.id ?? null))) return DUPLICATE;
  const ended = session ? await endLocked(core, db, session) : [];
  const noted = await note(core, db, conversation, person, "Started over: your next message opens a new session.");
  return { status: "received", sessionId: session?.id ?? null, wakes: [...ended, ...noted] };
}

// ----------------------------------------------------------------------------------------------------------- clicks

async function receiveClick(
  core: Core,
  db: Client,
  click: InboundClick,
  standing: Standing | undefined,
): Promise<Received> {
  if (!(await recordReceived(db, click.dedupe, null))) return DUPLICATE;
  return click.button.for === "question"
    ? answerByClick(core, db, click, click.button.questionId, click.button.option)
    : decideByClick(core, db, click, standing);
}

async function answerByClick(
  core: Core,
  db: Client,
  click: InboundClick,
  questionId: string,
  index: number,
): Promise<Received> {
  const known = await findQuestion(db, questionId);
  const session = known && (await lockSession(db, known.sessionId));
  if (!session || !isIn(session, click.conversation))
    return tell(core, db, click, "This question is not known here any more.");
  const question = await findQuestion(db, questionId);
  if (question?.status !== "open") return tell(core, db, click, "This question was already settled; nothing changed.");
  if (!isFor(question, click.person))
    return tell(core, db, click, "This question is for somebody else; nothing changed.");
  const option = question.options[index];
  if (!option) return tell(core, db, click, "This option does not exist; nothing changed.");
  const channel = { ...(session.conversation ?? click.conversation), userId: click.person.userId };
  const { wakes } = await recordAnswer(core, db, session, question, { ...chosen(option), by: click.person, channel });
  return { status: "received", sessionId: session.id, wakes };
}

async function decideByClick(
  core: Core,
  db: Client,
  click: InboundClick,
  standing: Standing | undefined,
): Promise<Received> {
  const { button } = click;
  if (button.for !== "decision") return ignored("not a decision");
  if (button.verb === "review") return ignored("a review opens a view and decides nothing");
  const decided = await decideLocked(core, db, {
    decisionId: button.decisionId,
    verb: button.verb,
    by: click.person,
    card: button.card,
    from: click.conversation,
    standing,
  });
  if (decided.ok) return { status: "received", sessionId: decided.decision.sessionId, wakes: decided.wakes };
  const told = await tell(core, db, click, decided.message);
  return { ...told, wakes: [...decided.wakes, ...told.wakes] };
}

/** Answers a click that changed nothing, for its author's eyes only (A6). */
async function tell(core: Core, db: Client, click: InboundClick, text: string): Promise<Received> {
  const wakes = await note(core, db, click.conversation, click.person, text);
  return { status: "received", sessionId: null, wakes };
}

async function note(core: Core, db: Client, conversation: Conversation, to: Person, text: string): Promise<Wake[]> {
  const id = newDeliveryId(core.ids);
  // A lane of its own: a private note never waits behind a session's messages.
  await insertDeliveries(db, [
    {
      id,
      lane: id,
      sessionId: null,
      decisionId: null,
      conversation,
      message: { kind: "notice", to, text },
      edits: null,
    },
  ]);
  return [{ kind: "deliver", id }];
}
