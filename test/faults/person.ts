import { randomBytes } from "node:crypto";
import type { Conversation, InboundEvent, Person } from "../../src/core/domain/message.ts";
import type { Posted, Said } from "./history.ts";
import { type Act, look, type Story } from "./stories.ts";

const ANA: Person = { provider: "slack", workspaceId: "T1", userId: "U_ANA", name: "Ana" };
/** More acts than any story has: one that goes on is a loop. */
const MOST_ACTS = 12;

/** What one act makes the platform send, in order, and what it comes to in the history. */
export interface Sent {
  readonly event: InboundEvent;
  readonly said: Said | null;
  /** A platform sends a post again until it is acknowledged; a click it sends once, and the person clicks again. */
  readonly again: boolean;
}

/** The one who talks with the agent in a run's thread, and what the platform makes of it. */
export interface PersonInThread {
  /** Null: there is nothing left to do. */
  next(chat: readonly Posted[]): Act | null;
  send(act: Exclude<Act, { kind: "wait" }>): Sent[];
}

export function createPerson(story: Story, run: string): PersonInThread {
  const conversation: Conversation = {
    provider: "slack",
    connectionId: "slack:T1",
    workspaceId: "T1",
    conversationId: `C1:${run}`,
  };
  const done = { post: 0, decide: 0, option: 0, wait: 0 };
  const key = () => randomBytes(8).toString("hex");

  const post = (text: string): Sent[] => {
    const id = key();
    const event: InboundEvent = {
      kind: "message",
      conversation,
      dedupe: [`slack:event:${id}`, `slack:post:${id}`],
      person: ANA,
      text,
      ref: `C1:${id}`,
      address: "mention",
      forSomebodyElse: false,
    };
    const said: Said = { kind: "post", text, acknowledged: false };
    const once: Sent = { event, said, again: true };
    // An event may come twice though it was acknowledged (G3).
    return story.plain ? [once] : [once, { event, said: null, again: false }];
  };

  /** The first click comes twice, as a platform may repeat it; every further one is a click of its own. */
  const clicks = (
    times: number,
    button: (InboundEvent & { kind: "click" })["button"],
    said: () => Said | null,
  ): Sent[] =>
    Array.from({ length: story.plain ? 1 : times }, (_, i): Sent[] => {
      const event: InboundEvent = {
        kind: "click",
        conversation,
        dedupe: [`slack:click:${key()}`],
        person: ANA,
        button,
      };
      const once: Sent = { event, said: said(), again: false };
      return i === 0 && times > 1 && !story.plain ? [once, { event, said: null, again: false }] : [once];
    }).flat();

  return {
    next(chat) {
      if (Object.values(done).reduce((sum, n) => sum + n) >= MOST_ACTS) return null;
      const act: Act | null =
        done.post === 0
          ? { kind: "post", text: story.post }
          : story.next({ ...look(chat), done: (kind) => done[kind] });
      if (act) done[act.kind]++;
      return act;
    },
    send(act) {
      switch (act.kind) {
        case "post":
          return post(act.text);
        case "option":
          return clicks(act.times, { for: "question", questionId: act.questionId, option: act.option }, () => null);
        case "decide": {
          const { decisionId, cardDigest } = act.card;
          return clicks(
            act.times,
            { for: "decision", decisionId, card: cardDigest.slice(0, 16), verb: act.verb },
            () => ({ kind: "decide", decisionId, verb: act.verb, by: ANA, acknowledged: false }),
          );
        }
      }
    },
  };
}
