import { isOutage } from "../../../../src/core/db/outage.ts";
import { CountersignError } from "../../../../src/core/domain/errors.ts";
import type { Conversation, InboundEvent } from "../../../../src/core/domain/message.ts";
import { answerByApi } from "../../../../src/core/flow/answerQuestion.ts";
import type { WorkerCore } from "../../../../src/core/flow/core.ts";
import { endSession } from "../../../../src/core/flow/endSession.ts";
import { interrupt } from "../../../../src/core/flow/interrupt.ts";
import { submitTurn } from "../../../../src/core/flow/queueTurn.ts";
import { receiveInbound } from "../../../../src/core/flow/receiveInbound.ts";
import type { Wake } from "../../../../src/core/ports.ts";
import { clickCard, clickOption, post, type TestCore } from "../../../helpers/core.ts";
import type { Said } from "../../history.ts";
import { type Deed, PEOPLE } from "./people.ts";
import type { Stage } from "./stage.ts";

interface Scene {
  readonly session: string | null;
  readonly cards: readonly { readonly decisionId: string; readonly cardDigest: string; readonly status: string }[];
  readonly question: string | null;
}

async function look(t: TestCore): Promise<Scene> {
  const { rows } = await t.core.pool.query<Scene>(
    `select
       (select id from sessions order by created_at desc, id desc limit 1) as session,
       (select coalesce(json_agg(json_build_object('decisionId', id, 'cardDigest', card_digest,
          'status', case when again_by is null then status else 'approved' end) order by id), '[]') from decisions) as cards,
       (select id from questions where status = 'open' limit 1) as question`,
  );
  return rows[0] ?? { session: null, cards: [], question: null };
}

/** People come on once there is what they want to act on, in the order they stand in; some do it twice at once. */
export function people(
  t: TestCore,
  stage: Stage,
  core: WorkerCore,
  thread: Conversation,
  said: Said[],
  deeds: readonly Deed[],
) {
  let waiting = deeds.map((deed, n) => ({ deed, name: `${n + 1} ${"by" in deed ? deed.by : "api"} ${deed.does}` }));

  /** What was not answered is delivered again (G2). */
  const receive = async (event: InboundEvent): Promise<void> => {
    const received = await receiveInbound(core, event).catch((error) => {
      if (!isOutage(error)) throw error;
      return receiveInbound(core, event);
    });
    await core.ring(received.wakes);
  };
  /** Both deliveries of one thing are the same thing: it was acknowledged if either was. */
  function deliver(name: string, event: InboundEvent, twice: boolean, word?: Said): void {
    if (word) said.push(word);
    const at = said.length - 1;
    for (const again of twice ? ["", " again"] : [""]) {
      stage.enter(`${name}${again}`, async () => {
        await receive(event);
        if (word) said[at] = { ...word, acknowledged: true };
      });
    }
  }
  const ask = (name: string, work: () => Promise<{ wakes?: Wake[] }>): void =>
    stage.enter(name, async () => {
      const { wakes = [] } = await work().catch((error): { wakes?: Wake[] } => {
        // Too late, as a program over the API is told.
        if (error instanceof CountersignError) return {};
        throw error;
      });
      await core.ring(wakes);
    });

  /** False: not yet. */
  function comeOn(name: string, deed: Deed, { session, cards, question }: Scene): boolean {
    switch (deed.does) {
      case "approve":
      case "reject":
      case "run-again": {
        const card = cards.find(({ status }) => status === (deed.does === "run-again" ? "unconfirmed" : "pending"));
        if (!card) return false;
        const { decisionId } = card;
        const by = PEOPLE[deed.by];
        const word = { kind: "decide", decisionId, verb: deed.does, by, acknowledged: false } as const;
        deliver(name, clickCard(thread, card, deed.does, by), deed.twice, word);
        return true;
      }
      case "post":
      case "answer in words": {
        if (deed.does === "answer in words" && question === null) return false;
        const word = { kind: "post", text: name, acknowledged: false } as const;
        deliver(name, post(thread, name, { person: PEOPLE[deed.by] }), deed.twice, word);
        return true;
      }
      case "answer by click":
        if (question) deliver(name, clickOption(thread, question, 0, PEOPLE[deed.by]), deed.twice);
        return question !== null;
      case "answer by api":
        if (session && question)
          ask(name, () => answerByApi(core, { sessionId: session, questionId: question, text: "A", value: "a" }));
        return question !== null;
      case "submit":
        if (session)
          ask(name, () => submitTurn(core, { sessionId: session, text: name, mode: deed.mode, idempotencyKey: name }));
        return session !== null;
      case "interrupt":
        if (session) ask(name, async () => ({ wakes: [], ...(await interrupt(core, session)) }));
        return session !== null;
      case "end":
        if (session) ask(name, () => endSession(core, session));
        return session !== null;
    }
  }

  return {
    async admit(): Promise<void> {
      if (waiting.length === 0) return;
      const scene = await look(t);
      waiting = waiting.filter(({ name, deed }) => !comeOn(name, deed, scene));
    },
  };
}
