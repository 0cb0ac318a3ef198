import type { DecisionStatus, RecordPlace } from "./decision.ts";
import type { Json } from "./json.ts";

/** Where people talk to an agent. */
export type ChatProvider = "slack" | "linear";

/** Somebody who wrote or clicked. `userId` means something only together with `workspaceId`, their own team. */
export interface Person {
  readonly provider: ChatProvider | "api";
  readonly workspaceId: string;
  readonly userId: string;
  readonly name?: string;
}

/** The key under which two mentions of one person are equal; team and user together (A7). */
export const personKey = (person: Pick<Person, "provider" | "workspaceId" | "userId">): string =>
  `${person.provider}:${person.workspaceId}:${person.userId}`;

/**
 * One conversation on a platform. `conversationId` is the thread as the adapter spells it; Slack: `C1:1700.01` for a
 * thread, `D1` for an unthreaded direct message. `connectionId` names the installation, for Slack `slack:T1`.
 */
export interface Conversation {
  readonly provider: ChatProvider;
  readonly connectionId: string;
  readonly workspaceId: string;
  readonly conversationId: string;
}

/** Unique among the sessions that have not ended (S1). */
export const threadKey = (c: Conversation): string => `${c.provider}:${c.workspaceId}:${c.conversationId}`;

/**
 * What a platform told us, in our words. An adapter's `parse` makes these and nothing else; it never throws: what
 * starts nothing is `ignored`, with the reason for the debug log.
 *
 * `dedupe` holds every key under which the same thing may come again (event id, post id); meeting any of them in the
 * inbox means it was received before (G3).
 */
export type InboundEvent = InboundMessage | InboundClick | InboundIgnored;

export interface InboundMessage {
  readonly kind: "message";
  readonly conversation: Conversation;
  readonly dedupe: readonly string[];
  readonly person: Person;
  readonly text: string;
  /** The platform's own id of the post inside its channel; Slack: `C1:1700.01`. */
  readonly ref: string;
  /**
   * `mention`: names the agent and may open a session. `direct`: a direct message, opens one too. `follow-up`: counts
   * only in a thread that has a session, and only from somebody who already talks in it (G4).
   */
  readonly address: "mention" | "direct" | "follow-up";
  /** The text begins by mentioning somebody who is not the agent: then a follow-up is not for the agent. */
  readonly forSomebodyElse: boolean;
  /** A direct message that says only `new`: ends the session of this conversation, so that the next one is fresh. */
  readonly startsOver?: boolean;
  /**
   * A threaded direct message: the unthreaded conversation it may belong to, and the ref of the thread's root. It
   * belongs there when the root is a post of that conversation's session (G4).
   */
  readonly parent?: { readonly conversation: Conversation; readonly rootRef: string };
  readonly payload?: Json;
}

export interface InboundClick {
  readonly kind: "click";
  readonly conversation: Conversation;
  readonly dedupe: readonly string[];
  readonly person: Person;
  readonly button: Button;
}

export interface InboundIgnored {
  readonly kind: "ignored";
  readonly reason: string;
}

/** What a button stands for. `card` is the first 16 hex digits of the card's digest, so that an old card decides nothing. */
export type Button =
  | { readonly for: "question"; readonly questionId: string; readonly option: number }
  | { readonly for: "decision"; readonly decisionId: string; readonly card: string; readonly verb: DecisionVerb };

export type DecisionVerb = "approve" | "reject" | "run-again" | "review";

/** What goes out. An adapter's `render` turns it into the platform's body; a delivery keeps it as it is written here. */
export type OutboundMessage =
  /** Markdown as the model wrote it. */
  | { readonly kind: "text"; readonly text: string }
  /** `text`: the turn's own words above the question, may be empty. With `outcome`, its buttons are gone (Q4). */
  | {
      readonly kind: "question";
      readonly text: string;
      readonly question: AskedQuestion;
      readonly outcome?: QuestionOutcome;
    }
  /** The buttons follow from `status` (A8, A9). */
  | { readonly kind: "card"; readonly card: Card }
  /** A private note to one person. */
  | { readonly kind: "notice"; readonly to: Person; readonly text: string };

export interface AskedQuestion {
  readonly id: string;
  readonly text: string;
  readonly options: readonly Option[];
}

export interface Option {
  readonly label: string;
  readonly value: string;
}

export type QuestionOutcome =
  | { readonly kind: "answered"; readonly text: string; readonly by?: Person }
  | { readonly kind: "closed"; readonly reason: string };

export interface Fact {
  readonly label: string;
  readonly value: string;
}

export interface Preview {
  readonly title: string;
  readonly summary?: string;
  readonly facts: readonly Fact[];
}

/** A proposed write as people see it, now or after the decision. Digests are 64 hex digits (SHA-256). */
export interface Card {
  readonly decisionId: string;
  readonly tool: string;
  readonly preview: Preview;
  /** The stored arguments, the exact JSON text that `apply` will get. */
  readonly input: string;
  readonly inputDigest: string;
  readonly cardDigest: string;
  readonly status: DecisionStatus;
  readonly decidedBy?: Person;
  /** ISO 8601, UTC. */
  readonly decidedAt?: string;
  /** Why it was rejected, or a fixed sentence about a failed or unconfirmed write. */
  readonly note?: string;
  /** Once it was decided: its entry in the decision record. Whoever keeps the chat can hold the record to it. */
  readonly record?: RecordPlace;
}
