import type { Client } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { newDeliveryId, newId } from "../domain/ids.ts";
import type { AgentInput } from "../domain/input.ts";
import {
  type Conversation,
  type InboundClick,
  type InboundEvent,
  type InboundMessage,
  type Person,
  personKey,
  threadKey,
} from "../domain/message.ts";
import { matchOption, type Question } from "../domain/question.ts";
import type { Session } from "../domain/session.ts";
import type { Wake } from "../ports.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import { assignReceived, recordReceived } from "../store/inbox.ts";
import { findOpenQuestion, findQuestion } from "../store/questions.ts";
import { insertPerson, lockOpenThread, lockSession, ownsPost } from "../store/sessions.ts";
import { chosen, recordAnswer } from "./answerQuestion.ts";
import type { Core } from "./core.ts";
import { decideLocked } from "./decide.ts";
import { endLocked } from "./endSession.ts";
import { openSession } from "./openSession.ts";
import { queueTurn } from "./queueTurn.ts";

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
      return withTx(core.pool, (db) => receiveMessage(core, db, event));
    case "click":
      return withTx(core.pool, (db) => receiveClick(core, db, event));
  }
}

const ignored = (reason: string): Received => ({ status: "ignored", reason, wakes: [] });
const DUPLICATE: Received = { status: "duplicate", reason: "received before", wakes: [] };

// --------------------------------------------------------------------------------------------------------- messages

async function receiveMessage(core: Core, db: Client, message: InboundMessage): Promise<Received> {
  const conversation = await homeOf(db, message);
  const bound = await lockOpenThread(db, threadKey(conversation), personKey(message.person));
  if (message.address === "follow-up") {
    // Looked at before anything is written: most posts of a busy workspace are not for us.
    if (!bound) return ignored("no session in this thread");
    if (!bound.talks) return ignored("written by somebody who does not talk with the agent here");
    if (message.forSomebodyElse) return ignored("begins by mentioning somebody else");
  }
  const sessionId = bound?.session.id ?? newId(core.ids, "ses");
  if (!(await recordReceived(db, message.dedupe, sessionId))) return DUPLICATE;
  if (message.startsOver) return startOver(core, db, bound?.session ?? null, conversation, message.person);

  const session =
    bound?.session ??
    (await openSession(db, { id: sessionId, agentId: null, source: "channel", conversation })) ??
    (await lockOpenThread(db, threadKey(conversation), personKey(message.person)))?.session;
  if (!session) throw new Error("a thread's session ended while a message for it came in");
  if (session.id !== sessionId) await assignReceived(db, message.dedupe, session.id);
  if (!bound?.talks) await insertPerson(db, session.id, personKey(message.person));

  const channel = { ...conversation, userId: message.person.userId };
  const question = await findOpenQuestion(db, session.id);
  if (question && isFor(question, message.person)) {
    const option = matchOption(question.options, message.text);
    const said = option ? chosen(option) : { text: message.text };
    const { wakes } = await recordAnswer(core, db, session, question, { ...said, by: message.person, channel });
    return { status: "received", sessionId: session.id, wakes };
  }
  // While a question is open, what others type waits behind it: the question stays open (Q5).
  const input: AgentInput = {
    source: "channel",
    text: message.text,
    channel,
    ...(message.payload !== undefined && { payload: message.payload }),
  };
  const { wakes } = await queueTurn(core, db, { sessionId: session.id, input, person: message.person });
  return { status: "received", sessionId: session.id, wakes };
}

/** A threaded direct message belongs to the unthreaded conversation when it answers one of that session's posts (G4). */
async function homeOf(db: Client, { conversation, parent, person }: InboundMessage): Promise<Conversation> {
  if (!parent) return conversation;
  const above = await lockOpenThread(db, threadKey(parent.conversation), personKey(person));
  if (!above) return conversation;
  const inboxKey = `${parent.conversation.provider}:post:${parent.conversation.workspaceId}:${parent.rootRef}`;
  return (await ownsPost(db, above.session.id, parent.rootRef, inboxKey)) ? parent.conversation : conversation;
}

const isFor = (question: Question, person: Person): boolean =>
  question.person !== null && personKey(question.person) === personKey(person);

async function startOver(
  core: Core,
  db: Client,
  session: Session | null,
  conversation: Conversation,
  person: Person,
): Promise<Received> {
  const ended = session ? await endLocked(core, db, session) : [];
  const noted = await note(core, db, conversation, person, "Started over: your next message opens a new session.");
  return { status: "received", sessionId: session?.id ?? null, wakes: [...ended, ...noted] };
}

// ----------------------------------------------------------------------------------------------------------- clicks

async function receiveClick(core: Core, db: Client, click: InboundClick): Promise<Received> {
  if (!(await recordReceived(db, click.dedupe, null))) return DUPLICATE;
  return click.button.for === "question"
    ? answerByClick(core, db, click, click.button.questionId, click.button.option)
    : decideByClick(core, db, click);
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
  if (!session || !sameWorkspace(session, click))
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

async function decideByClick(core: Core, db: Client, click: InboundClick): Promise<Received> {
  const { button } = click;
  if (button.for !== "decision") return ignored("not a decision");
  if (button.verb === "review") return ignored("a review opens a view and decides nothing");
  const decided = await decideLocked(core, db, {
    decisionId: button.decisionId,
    verb: button.verb,
    by: click.person,
    card: button.card,
  });
  if (decided.ok) return { status: "received", sessionId: decided.decision.sessionId, wakes: decided.wakes };
  const told = await tell(core, db, click, decided.message);
  return { ...told, wakes: [...decided.wakes, ...told.wakes] };
}

const sameWorkspace = (session: Session, click: InboundClick): boolean =>
  session.conversation?.provider === click.conversation.provider &&
  session.conversation.workspaceId === click.conversation.workspaceId;

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
