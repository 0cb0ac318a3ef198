import type {
  Card,
  Conversation,
  DecisionVerb,
  InboundClick,
  InboundMessage,
  Person,
} from "../../../src/core/domain/message.ts";

let last = 0;
const unique = () => ++last;

export const ANA: Person = { provider: "slack", workspaceId: "T1", userId: "U_ANA", name: "Ana" };
export const BEN: Person = { provider: "slack", workspaceId: "T1", userId: "U_BEN", name: "Ben" };
/** Ana's user id, in another workspace. */
export const STRANGER: Person = { ...ANA, workspaceId: "T2", name: "Not Ana" };

/** A thread nobody has written in. */
export const newThread = (): Conversation => ({
  provider: "slack",
  connectionId: "slack:T1",
  workspaceId: "T1",
  conversationId: `C1:${unique()}.0`,
});

/** A post in a thread; a mention unless said otherwise. */
export function post(conversation: Conversation, text: string, over: Partial<InboundMessage> = {}): InboundMessage {
  const n = unique();
  return {
    kind: "message",
    conversation,
    dedupe: [`slack:event:Ev${n}`, `slack:post:T1:C1:${n}`],
    person: ANA,
    text,
    ref: `C1:${n}`,
    address: "mention",
    forSomebodyElse: false,
    ...over,
  };
}

type Click = Omit<InboundClick, "button">;
const click = (conversation: Conversation, person: Person): Click => ({
  kind: "click",
  conversation,
  dedupe: [`slack:click:${unique()}`],
  person,
});

export const clickOption = (
  conversation: Conversation,
  questionId: string,
  option: number,
  by: Person = ANA,
): InboundClick => ({ ...click(conversation, by), button: { for: "question", questionId, option } });

export const clickCard = (
  conversation: Conversation,
  card: Pick<Card, "decisionId" | "cardDigest">,
  verb: DecisionVerb,
  by: Person = ANA,
): InboundClick => ({
  ...click(conversation, by),
  button: { for: "decision", decisionId: card.decisionId, card: card.cardDigest.slice(0, 16), verb },
});
