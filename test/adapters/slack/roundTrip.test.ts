import fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSlackAdapter } from "../../../src/adapters/slack/index.ts";
import { createSlackSimulator, type SlackSimulator } from "../../../src/adapters/slack/simulator/index.ts";
import type { Card, InboundEvent, InboundMessage } from "../../../src/core/domain/message.ts";
import type { Outgoing } from "../../../src/core/ports.ts";
import { silentLog } from "../../helpers/log.ts";

type Adapter = Awaited<ReturnType<typeof createSlackAdapter>>;

const DELIVERY = "6a2c1d1e-0001-4000-8000-00000000000";
const card: Card = {
  decisionId: "dec_1",
  tool: "attach",
  preview: { title: "Attach invoice 7", facts: [{ label: "Order", value: "42" }] },
  input: "{}",
  inputDigest: "ab".repeat(32),
  cardDigest: "0123456789abcdef".repeat(4),
  status: "pending",
};

let slack: SlackSimulator;
let server: FastifyInstance;
let adapter: Adapter;
const got: InboundEvent[] = [];

beforeAll(async () => {
  slack = createSlackSimulator();
  await slack.start();
  adapter = await createSlackAdapter(
    { botToken: slack.botToken, signingSecrets: [slack.signingSecret], apiUrl: slack.apiUrl },
    {
      log: silentLog,
      onInbound: async (events) => {
        got.push(...events);
      },
    },
  );
  server = fastify();
  server.register(adapter.plugin);
  slack.setEventsUrl(`${await server.listen({ port: 0, host: "127.0.0.1" })}/slack/events`);
});
afterAll(async () => {
  await slack.stop();
  await server.close();
});

async function mentioned(): Promise<InboundMessage> {
  got.length = 0;
  await slack.people.ada.mention(slack.general, "attach <it> & tell me");
  await slack.settled();
  const [first, second] = got;
  if (first?.kind !== "message" || second?.kind !== "message") throw new Error("no pair of events came");
  expect(second.dedupe[0]).toBe(first.dedupe[0]);
  return first;
}

const refOf = (ref: string) => {
  const [channel = "", ts = ""] = ref.split(":");
  return { channel, ts };
};

async function sent(outgoing: Outgoing): Promise<string> {
  const result = await adapter.sender.send(outgoing);
  if (result.outcome !== "sent") throw new Error(`not sent: ${JSON.stringify(result)}`);
  return result.ref;
}

describe("the adapter and the simulator, over HTTP", () => {
  it("G3 A6 a mention comes in, a card goes out, its click comes back, and the card is replaced", async () => {
    const message = await mentioned();
    expect(message).toMatchObject({ text: "attach <it> & tell me", address: "mention", forSomebodyElse: false });
    await adapter.sender.status(message.conversation, "is thinking");

    const { conversation, person } = message;
    const ref = await sent({ deliveryId: `${DELIVERY}1`, conversation, message: { kind: "card", card } });
    got.length = 0;
    await slack.people.ada.click(refOf(ref), { buttonText: "Approve" });
    expect(got).toMatchObject([
      {
        kind: "click",
        conversation,
        person: { userId: person.userId },
        button: { decisionId: "dec_1", verb: "approve" },
      },
    ]);

    const applied: Card = { ...card, status: "applied", decidedBy: person, decidedAt: "2026-01-03T02:16:53Z" };
    await sent({ deliveryId: `${DELIVERY}2`, conversation, message: { kind: "card", card: applied }, editRef: ref });
    expect(slack.buttons(refOf(ref))).toEqual([]);
    expect(JSON.stringify(slack.message(refOf(ref))?.blocks)).toContain(`*applied* · approved by <@${person.userId}>`);
    expect(slack.violations).toEqual([]);
  });

  it("G5 a post whose answer was lost is found, and was posted once", async () => {
    const { conversation } = await mentioned();
    const outgoing: Outgoing = { deliveryId: `${DELIVERY}3`, conversation, message: { kind: "text", text: "Once." } };
    expect(await adapter.sender.find(outgoing)).toEqual({ found: false });
    slack.faults.next("chat.postMessage", { kind: "resetAfterAccept" });
    expect((await adapter.sender.send(outgoing)).outcome).toBe("unknown");
    const found = await adapter.sender.find(outgoing);
    const [, root = ""] = conversation.conversationId.split(":");
    const posts = slack.thread(slack.general, root).filter(({ text }) => text === "Once.");
    expect(posts).toHaveLength(1);
    expect(found).toEqual({ found: true, ref: `${slack.general}:${posts[0]?.ts}` });
  });

  it("G4 in a DM, answers and notices stay unthreaded, and a lost answer is found there too", async () => {
    got.length = 0;
    const { dmChannel } = slack.people.bo;
    await slack.people.bo.dm("hello");
    const [first] = got;
    if (first?.kind !== "message") throw new Error("no message came");
    expect(first).toMatchObject({ address: "direct", conversation: { conversationId: dmChannel } });
    const { conversation, person } = first;
    const outgoing: Outgoing = {
      deliveryId: `${DELIVERY}4`,
      conversation,
      message: { kind: "text", text: "Hello, Bo." },
    };
    slack.faults.next("chat.postMessage", { kind: "resetAfterAccept" });
    expect((await adapter.sender.send(outgoing)).outcome).toBe("unknown");
    expect(await adapter.sender.find(outgoing)).toMatchObject({ found: true });
    const notice = { kind: "notice", to: person, text: "For your eyes." } as const;
    await sent({ deliveryId: `${DELIVERY}5`, conversation, message: notice });
    expect(slack.violations).toEqual([]);
  });
});
