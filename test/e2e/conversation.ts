import { decodeButton } from "../../src/adapters/buttonValue.ts";
import type { Message, MessageRef, Person } from "../../src/adapters/slack/simulator/index.ts";
import type { DecisionView } from "../../src/core/flow/views.ts";
import type { GatewayProcess } from "../helpers/gatewayProcess.ts";
import { waitUntil } from "../helpers/waitUntil.ts";
import type { World } from "./world.ts";

/** Longer than any wait that is not a fault: two cores may be shared by many processes. */
export const PATIENT_MS = 60_000;

export const ASKED = "Move customer cus_42 to the team plan";

/** A thread in #general, and the card in it that waits for a decision. */
export interface Proposed {
  readonly root: MessageRef;
  readonly card: MessageRef;
  readonly decisionId: string;
}

/** Somebody, Ada unless named, mentions the agent, answers its question, and is shown the card. */
export async function proposeChange(world: World, by: Person = world.sim.people.ada): Promise<Proposed> {
  return answerQuestion(world, await by.mention(world.sim.general, ASKED), by);
}

/** The part behind the mention. */
export async function answerQuestion(world: World, root: MessageRef, by: Person): Promise<Proposed> {
  await by.click(await withButton(world, root, "Monthly"), { buttonText: "Monthly" });
  const card = await withButton(world, root, "Approve");
  const button = decodeButton(world.sim.buttons(card)[0]?.value ?? "");
  if (button?.for !== "decision") throw new Error("The card's first button decides nothing.");
  return { root, card, decisionId: button.decisionId };
}

/** The thread's message that has this button. */
export async function withButton({ sim }: World, root: MessageRef, buttonText: string): Promise<MessageRef> {
  const ref = ({ ts }: Message): MessageRef => ({ channel: root.channel, ts });
  const found = await sim.waitFor(
    () => sim.thread(root.channel, root.ts).find((m) => sim.buttons(ref(m)).some((b) => b.text === buttonText)),
    { timeoutMs: PATIENT_MS, what: `a message with the button ${buttonText}` },
  );
  return ref(found);
}

/** Waits until the card says so: `applied`, `failed`, `unconfirmed`, … */
export async function cardSays({ sim }: World, { card }: Proposed, status: string): Promise<void> {
  const says = () => sim.message(card)?.text.endsWith(`(${status})`);
  await sim.waitFor(says, { timeoutMs: PATIENT_MS, what: `the card to say ${status}` });
}

/** Waits for so many private notes to a person, and resolves with them. */
export async function notesTo({ sim }: World, person: Person, count: number): Promise<string[]> {
  const notes = () => sim.ephemerals.filter((note) => note.user === person.id).map((note) => note.text);
  await sim.waitFor(() => notes().length >= count, { timeoutMs: PATIENT_MS, what: `${count} notes to ${person.name}` });
  return notes();
}

/** What the agent posted in the thread, oldest first. */
export const answers = ({ sim }: World, root: MessageRef): string[] =>
  sim
    .thread(root.channel, root.ts)
    .filter((message) => message.user === sim.team.botUserId)
    .map((message) => message.text);

/** Waits for a post of the agent in the thread, and resolves with its text. */
export const answerLike = (world: World, root: MessageRef, pattern: RegExp): Promise<string> =>
  world.sim.waitFor(() => answers(world, root).find((text) => pattern.test(text)), {
    timeoutMs: PATIENT_MS,
    what: `an answer like ${pattern}`,
  });

/** Everything a message shows, as text. */
export const shown = ({ sim }: World, ref: MessageRef): string => JSON.stringify(sim.message(ref)?.blocks);

/** The decision as the API shows it. */
export const decisionOf = (world: World, gateway: GatewayProcess, { decisionId }: Proposed): Promise<DecisionView> =>
  world.api(gateway, `/decisions/${decisionId}`);

/** Waits until nothing is left to do: no turn queued or at work, no message unsent, no write under way. */
export async function atRest({ db }: World): Promise<void> {
  await waitUntil(
    async () => {
      const { rows } = await db.pool.query<{ left: number }>(
        `select (select count(*) from turns where status in ('queued', 'running'))::int
              + (select count(*) from deliveries where status in ('queued', 'sending', 'unknown'))::int
              + (select count(*) from decisions where status in ('approved', 'applying'))::int as left`,
      );
      return rows[0]?.left === 0;
    },
    "nothing to be left to do",
    PATIENT_MS,
  );
}
