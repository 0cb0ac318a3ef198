import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { type Static, Type } from "@sinclair/typebox";
import type { FastifyError, FastifyInstance } from "fastify";
import type { Faults } from "../faults.ts";
import { Impossible } from "../impossible.ts";
import type { Person, Posted } from "../person.ts";
import type { Roster } from "../roster.ts";
import { readState, type StateDeps, toDeliveryState } from "./state.ts";

export interface ControlDeps extends StateDeps {
  /** By name, in any case, or by id. Throws `Impossible`. */
  readonly person: (nameOrId: string) => Person;
  readonly faults: Faults;
  readonly roster: Roster;
}

const Text = Type.String({ maxLength: 100_000 });
const Order = Type.Union(
  (["mention-first", "message-first", "together", "mention-only", "message-only"] as const).map((o) => Type.Literal(o)),
);
const Say = Type.Object({
  person: Type.String(),
  channel: Type.String(),
  text: Text,
  threadTs: Type.Optional(Type.String()),
  order: Type.Optional(Order),
});
const Reply = Type.Object({ person: Type.String(), channel: Type.String(), ts: Type.String(), text: Text });
const Direct = Type.Object({ person: Type.String(), text: Text, threadTs: Type.Optional(Type.String()) });
const Click = Type.Object({
  person: Type.String(),
  channel: Type.String(),
  ts: Type.String(),
  /** The button's text, or its ids. */
  button: Type.Optional(Type.String()),
  actionId: Type.Optional(Type.String()),
  blockId: Type.Optional(Type.String()),
});
const Submit = Type.Object({
  person: Type.String(),
  view: Type.String(),
  values: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Text))),
});
const Redeliver = Type.Object({
  /** A delivery's id; the newest unless given. */
  delivery: Type.Optional(Type.String()),
  retryNum: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
});
const Fault = Type.Union([
  Type.Object({ kind: Type.Literal("429"), retryAfter: Type.Integer({ minimum: 0 }) }),
  Type.Object({ kind: Type.Literal("okFalse"), error: Type.String() }),
  Type.Object({ kind: Type.Literal("status"), status: Type.Integer({ minimum: 400, maximum: 599 }) }),
  Type.Object({ kind: Type.Literal("resetBefore") }),
  Type.Object({ kind: Type.Literal("resetAfterAccept") }),
  Type.Object({ kind: Type.Literal("delay"), ms: Type.Integer({ minimum: 0 }) }),
]);
const ArmFault = Type.Object({
  method: Type.String(),
  fault: Fault,
  channel: Type.Optional(Type.String()),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
});
const People = Type.Array(Type.String());
const AddUsergroup = Type.Object({ handle: Type.String({ pattern: "^[a-z0-9._-]{1,21}$" }), people: People });
const ChangeUsergroup = Type.Object({
  id: Type.String(),
  people: Type.Optional(People),
  disabled: Type.Optional(Type.Boolean()),
});
const Deactivate = Type.Object({ person: Type.String() });
const After = Type.Object({ after: Type.Optional(Type.Integer()) });

export type SayRequest = Static<typeof Say>;
export type ReplyRequest = Static<typeof Reply>;
export type DirectRequest = Static<typeof Direct>;
export type ClickRequest = Static<typeof Click>;
export type SubmitRequest = Static<typeof Submit>;
export type RedeliverRequest = Static<typeof Redeliver>;
export type AddUsergroupRequest = Static<typeof AddUsergroup>;
export type ChangeUsergroupRequest = Static<typeof ChangeUsergroup>;
export type FaultRequest = Static<typeof ArmFault>;

/** Shorter than the idle timeouts of proxies and browsers. */
const LONG_POLL_MS = 20_000;

/** `/simulator/*`: drives the simulator from another process or from the page. JSON only. */
export function controlRoutes(instance: FastifyInstance, deps: ControlDeps): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { workspace, changes, deliveries, notices, faults, person, roster } = deps;

  const channelId = (idOrName: string): string => {
    const found = workspace.channels().find(({ id, name }) => id === idOrName || name === idOrName.replace(/^#/, ""));
    if (!found) throw new Impossible(`there is no channel ${idOrName}`);
    return found.id;
  };
  const toPosted = ({ channel, ts, threadTs, deliveries: told }: Posted) => ({
    channel,
    ts,
    ...(threadTs !== undefined && { threadTs }),
    deliveries: told.map(toDeliveryState),
  });

  app.setErrorHandler((error: FastifyError | Impossible, _request, reply) => {
    if (error instanceof Impossible) return reply.code(409).send(problem("impossible", error.message));
    const status = error.statusCode ?? 500;
    return reply.code(status).send(problem(status < 500 ? "bad_request" : "internal", error.message));
  });

  app.get("/simulator/state", { schema: { querystring: After } }, async ({ query: { after } }) => {
    if (after !== undefined) {
      await changes
        .waitFor(() => changes.revision() !== after, { timeoutMs: LONG_POLL_MS, what: "the next change" })
        // Nothing changed: the state as it is tells that as well.
        .catch(() => undefined);
    }
    return readState(deps);
  });

  app.post("/simulator/say", { schema: { body: Say } }, async ({ body }) =>
    toPosted(await person(body.person).say(channelId(body.channel), body.text, sayOptions(body))),
  );
  app.post("/simulator/mention", { schema: { body: Say } }, async ({ body }) =>
    toPosted(await person(body.person).mention(channelId(body.channel), body.text, sayOptions(body))),
  );
  app.post("/simulator/reply", { schema: { body: Reply } }, async ({ body: { channel, ts, text, person: who } }) =>
    toPosted(await person(who).reply({ channel: channelId(channel), ts }, text)),
  );
  app.post("/simulator/dm", { schema: { body: Direct } }, async ({ body: { text, threadTs, person: who } }) =>
    toPosted(await person(who).dm(text, threadTs === undefined ? {} : { threadTs })),
  );
  app.post("/simulator/click", { schema: { body: Click } }, async ({ body }) => {
    const { button, actionId, blockId, ts } = body;
    const message = { channel: channelId(body.channel), ts };
    if (button === undefined && actionId === undefined)
      throw new Impossible("a click names its button or its actionId");
    const query =
      actionId === undefined ? { buttonText: button ?? "" } : { actionId, ...(blockId !== undefined && { blockId }) };
    return toDeliveryState(await person(body.person).click(message, query));
  });
  app.post("/simulator/submit", { schema: { body: Submit } }, async ({ body: { view, values, person: who } }) => {
    const open = notices.views.find(({ id }) => id === view);
    if (!open) throw new Impossible(`there is no open view ${view}`);
    return toDeliveryState(await person(who).submitView(open, values));
  });
  app.post("/simulator/redeliver", { schema: { body: Redeliver } }, async ({ body: { delivery, retryNum = 1 } }) => {
    const again = delivery === undefined ? deliveries.all.at(-1) : deliveries.all.find(({ id }) => id === delivery);
    if (!again) throw new Impossible("there is nothing to deliver again");
    return toDeliveryState(await deliveries.again(again, { retryNum }));
  });
  const idsOf = (people: readonly string[]): string[] => people.map((name) => person(name).id);
  app.post("/simulator/usergroups", { schema: { body: AddUsergroup } }, async ({ body: { handle, people } }) =>
    roster.addUsergroup(handle, idsOf(people)),
  );
  app.post("/simulator/usergroups/change", { schema: { body: ChangeUsergroup } }, async ({ body }) =>
    roster.changeUsergroup(body.id, {
      ...(body.people && { users: idsOf(body.people) }),
      ...(body.disabled !== undefined && { disabled: body.disabled }),
    }),
  );
  app.post("/simulator/deactivate", { schema: { body: Deactivate } }, async ({ body }) => {
    roster.deactivate(person(body.person).id);
    return { ok: true };
  });
  app.post("/simulator/faults", { schema: { body: ArmFault } }, async ({ body: { method, fault, channel, count } }) => {
    faults.next(method, fault, {
      ...(channel !== undefined && { channel: channelId(channel) }),
      ...(count !== undefined && { count }),
    });
    return { ok: true };
  });
}

const sayOptions = ({ threadTs, order }: SayRequest) => ({
  ...(threadTs !== undefined && { threadTs }),
  ...(order !== undefined && { order }),
});

const problem = (code: string, message: string) => ({ error: { code, message } });
