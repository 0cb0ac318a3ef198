import type { Readable } from "node:stream";
import { Type } from "@sinclair/typebox";
import { CountersignError } from "../../core/domain/errors.ts";
import { listEvents } from "../../core/flow/views.ts";
import type { Routes } from "./routes.ts";
import { EventList, failures, IdParams } from "./schemas.ts";

const PAGE = 500;
/** Of a stream: what one slow client holds in memory. */
const FOLLOW_PAGE = 100;

const Query = Type.Object(
  {
    after: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: "The seq of the last event you have.",
    }),
    limit: Type.Integer({ minimum: 1, maximum: PAGE, default: PAGE }),
  },
  { additionalProperties: false },
);

const Headers = Type.Object({
  accept: Type.Optional(Type.String({ description: "`text/event-stream` follows the session." })),
  "last-event-id": Type.Optional(
    Type.String({ description: "Sent by a client that comes back; goes before `after`." }),
  ),
});

const ok = {
  description:
    "A page, ascending; or, where the client accepts `text/event-stream`, one event a message, its id the seq.",
  content: {
    "application/json": { schema: EventList },
    "text/event-stream": { schema: Type.Unsafe<Readable>(Type.String()) },
  },
};

export const events: Routes = (deps) => async (app) => {
  app.get(
    "/sessions/:id/events",
    {
      schema: {
        operationId: "listEvents",
        summary: "Read or follow a session's log",
        tags: ["events"],
        params: IdParams,
        querystring: Query,
        headers: Headers,
        response: { 200: ok, ...failures(400, 404) },
      },
    },
    async ({ params: { id }, query: { after, limit }, headers }, reply) => {
      if (!headers.accept?.includes("text/event-stream")) {
        return { events: await listEvents(deps.core, id, after, limit) };
      }
      const from = headers["last-event-id"] === undefined ? after : toSeq(headers["last-event-id"]);
      const read = (seq: number) => listEvents(deps.core, id, seq, FOLLOW_PAGE);
      // Says now that there is no such session; a stream that has begun cannot.
      await read(from);
      return (
        reply
          .type("text/event-stream")
          .header("cache-control", "no-store")
          .header("x-accel-buffering", "no")
          // A connection that stays open after its stream would keep the server from closing for over a minute.
          .header("connection", "close")
          .send(deps.followers.follow(reply.raw, from, read))
      );
    },
  );
};

function toSeq(id: string): number {
  const seq = /^\d{1,16}$/.test(id) ? Number(id) : Number.NaN;
  if (Number.isSafeInteger(seq)) return seq;
  throw new CountersignError("bad_request", "header: last-event-id must be the id of an event of this stream.");
}
