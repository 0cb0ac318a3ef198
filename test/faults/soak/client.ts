import { decodeButton } from "../../../src/adapters/buttonValue.ts";
import type {
  Delivery,
  MessageRef,
  Person as SlackPerson,
  SlackSimulator,
} from "../../../src/adapters/slack/simulator/index.ts";
import type { DecisionVerb, Person } from "../../../src/core/domain/message.ts";
import type { Said } from "../history.ts";
import { pick, type Random } from "./random.ts";

/** What one person did, and how it went; whether it was acknowledged is known once the platform has stopped trying. */
export interface Operation {
  readonly what: Omit<Said & { kind: "post" }, "acknowledged"> | Omit<Said & { kind: "decide" }, "acknowledged">;
  readonly deliveries: readonly Delivery[];
}

export interface Client {
  readonly operations: readonly Operation[];
  /** Approvals that this person saw come to an end, by the word on the card. */
  readonly ends: readonly string[];
  /** Proposes and decides, one after another, until told to stop. */
  run(): Promise<void>;
}

export interface ClientDeps {
  readonly sim: SlackSimulator;
  readonly person: SlackPerson;
  readonly random: Random;
  /** A number nobody else has: texts have to be told apart. */
  readonly number: () => number;
  readonly goesOn: () => boolean;
  readonly approveAll: boolean;
}

/** How long somebody looks at a card that does not change before they click again. */
const CLICK_AGAIN_MS = 4_000;
/** Longer than recovery takes; whatever waits for longer is found by the checker. */
const PATIENT_MS = 120_000;

export function createClient({ sim, person, random, number, goesOn, approveAll }: ClientDeps): Client {
  const operations: Operation[] = [];
  const ends: string[] = [];
  const seen = new Set<string>();
  const self: Person = { provider: "slack", workspaceId: person.team, userId: person.id };

  /** The newest card of the thread that nobody has looked at. */
  const newCard = (root: MessageRef): MessageRef | undefined => {
    const card = sim
      .thread(root.channel, root.ts)
      .find(({ channel, ts }) => !seen.has(ts) && sim.buttons({ channel, ts }).some(({ text }) => text === "Approve"));
    return card && { channel: card.channel, ts: card.ts };
  };
  const word = (card: MessageRef): string => /\((.+)\)$/.exec(sim.message(card)?.text ?? "")?.[1] ?? "";
  const until = (predicate: () => unknown, timeoutMs: number): Promise<boolean> =>
    sim.waitFor(predicate, { timeoutMs }).then(
      () => true,
      () => false,
    );

  async function click(card: MessageRef, buttonText: string): Promise<void> {
    const button = sim.buttons(card).find(({ text }) => text === buttonText);
    const means = button && decodeButton(button.value ?? "");
    if (!button || means?.for !== "decision") return;
    const what = {
      kind: "decide",
      decisionId: means.decisionId,
      verb: VERBS[buttonText] ?? "review",
      by: self,
    } as const;
    operations.push({ what, deliveries: [await person.rawClick(card, button)] });
  }

  async function decide(card: MessageRef): Promise<void> {
    const choice = approveAll || random() < 0.85 ? "Approve" : "Reject";
    await Promise.all([click(card, choice), click(card, random() < 0.1 && !approveAll ? "Reject" : choice)]);
    const deadline = performance.now() + PATIENT_MS;
    while (performance.now() < deadline) {
      const before = word(card);
      if (await until(() => word(card) !== before, CLICK_AGAIN_MS)) continue;
      if (FINAL.has(before)) break;
      if (before === "unconfirmed") {
        if (!approveAll && random() < 0.3) break;
        await Promise.all([click(card, "Run again"), click(card, "Run again")]);
      } else if (before === "waiting for a decision") await click(card, choice);
    }
    ends.push(word(card));
  }

  return {
    operations,
    ends,
    async run() {
      let root: MessageRef | null = null;
      while (goesOn()) {
        const text = `Move customer cus_${number()} to the ${pick(random, ["team", "pro", "business"])} plan`;
        const posted: Awaited<ReturnType<SlackPerson["say"]>> = root
          ? await person.reply(root, text)
          : await person.mention(sim.general, text);
        const ref: MessageRef = root ?? { channel: posted.channel, ts: posted.ts };
        operations.push({ what: { kind: "post", text }, deliveries: posted.deliveries });
        const proposed = await until(() => newCard(ref), PATIENT_MS);
        root = proposed ? ref : null;
        const card = newCard(ref);
        if (!card) continue;
        seen.add(card.ts);
        await decide(card);
      }
    },
  };
}

const VERBS: Readonly<Record<string, DecisionVerb>> = {
  Approve: "approve",
  Reject: "reject",
  "Run again": "run-again",
};
const FINAL: ReadonlySet<string> = new Set(["applied", "failed", "rejected", "expired"]);
