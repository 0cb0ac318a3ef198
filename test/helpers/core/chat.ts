import type { Conversation, OutboundMessage } from "../../../src/core/domain/message.ts";
import type { ChatSender, Outgoing, SendResult } from "../../../src/core/ports.ts";

/** One message of the fake platform, as it stands now. */
export interface Post {
  readonly ref: string;
  readonly deliveryId: string;
  readonly conversation: Conversation;
  readonly message: OutboundMessage;
  readonly edits: number;
}

type Answer = (outgoing: Outgoing, accept: () => SendResult) => SendResult | Promise<SendResult>;
type Found = Awaited<ReturnType<ChatSender["find"]>>;

export interface FakeChat extends ChatSender {
  /** What people see, in the order it was posted. */
  readonly posts: readonly Post[];
  /** Every request that arrived, edits and refused ones included. */
  readonly sends: readonly Outgoing[];
  readonly finds: readonly Outgoing[];
  /** The next request is answered by this; `accept` does what the platform does with a good one. */
  answerNext(answer: Answer): void;
  /** The next look-up is answered by this instead of by what is posted. */
  findNext(answer: Found): void;
  reset(): void;
}

/** A chat platform in memory: keeps what it accepts, finds it again by delivery id, fails when told to. */
export function createFakeChat(): FakeChat {
  const posts: Post[] = [];
  const sends: Outgoing[] = [];
  const finds: Outgoing[] = [];
  const answers: Answer[] = [];
  const founds: Found[] = [];
  let last = 0;

  function accept({ deliveryId, conversation, message, editRef }: Outgoing): SendResult {
    const ref = editRef ?? `C1:${++last}`;
    const at = posts.findIndex((p) => p.ref === ref);
    const before = posts[at];
    if (before) posts[at] = { ...before, message, edits: before.edits + 1 };
    else posts.push({ ref, deliveryId, conversation, message, edits: 0 });
    return { outcome: "sent", ref };
  }

  return {
    provider: "slack",
    posts,
    sends,
    finds,
    async send(outgoing) {
      sends.push(outgoing);
      const answer = answers.shift();
      return answer ? answer(outgoing, () => accept(outgoing)) : accept(outgoing);
    },
    async find(outgoing) {
      finds.push(outgoing);
      const told = founds.shift();
      if (told) return told;
      const post = posts.find((p) => p.deliveryId === outgoing.deliveryId);
      return post ? { found: true, ref: post.ref } : { found: false };
    },
    async status() {},
    split: (markdown) => (markdown === "" ? [] : [markdown]),
    answerNext: (answer) => void answers.push(answer),
    findNext: (answer) => void founds.push(answer),
    reset() {
      for (const list of [posts, sends, finds, answers, founds]) list.length = 0;
    },
  };
}
