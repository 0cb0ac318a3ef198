import { Type } from "@sinclair/typebox";
import { CountersignError } from "../../core/domain/errors.ts";
import { createSession } from "../../core/flow/createSession.ts";
import { getSession, listSessions } from "../../core/flow/views.ts";
import type { Routes } from "./routes.ts";
import {
  failures,
  IdempotencyHeader,
  IdParams,
  InputSource,
  Labels,
  Paging,
  Session,
  SessionList,
  SessionStatus,
  text,
} from "./schemas.ts";

const NewSession = Type.Object({
  agentId: Type.Optional(text(1, 200)),
  agent: Type.Optional(text(1, 200)),
  labels: Type.Optional(Labels),
  source: Type.Optional(InputSource),
  idempotencyKey: Type.Optional(text(1, 255)),
});

const Created = Type.Object(
  { session: Session, deployment: Type.Object({ id: Type.String() }) },
  { description: "The session, and the deployment it stays on." },
);

const LABEL = "label.";

const Filter = Type.Object(
  {
    agent: Type.Optional(text(1, 200)),
    agentId: Type.Optional(text(1, 200)),
    status: Type.Optional(SessionStatus),
    ...Paging,
  },
  { additionalProperties: false, patternProperties: { "^label\\.[^\\u0000]+$": text(0, 500) } },
);

export const sessions: Routes = (deps) => async (app) => {
  app.post(
    "/sessions",
    {
      schema: {
        operationId: "createSession",
        summary: "Create a session of an agent of the active deployment",
        description:
          "The same Idempotency-Key with the same body is answered 200 with the session it made, for 72 hours.",
        tags: ["sessions"],
        headers: IdempotencyHeader,
        body: NewSession,
        response: { 200: Created, 201: Created, ...failures(400, 404, 409, 413) },
      },
    },
    async ({ body, headers }, reply) => {
      const agentId = body.agentId ?? body.agent;
      if (agentId === undefined) throw new CountersignError("bad_request", "body: agentId is missing.");
      const { session, duplicate } = await createSession(deps.core, {
        agentId,
        ...(body.labels && { labels: body.labels }),
        ...(body.source && { source: body.source }),
        idempotencyKey: body.idempotencyKey ?? headers["idempotency-key"] ?? null,
      });
      return reply
        .code(duplicate ? 200 : 201)
        .send({ session: await getSession(deps.core, session.id), deployment: { id: session.deploymentId } });
    },
  );

  app.get(
    "/sessions",
    {
      schema: {
        operationId: "listSessions",
        summary: "List sessions, newest first",
        description: "Filter by labels with `label.KEY=VALUE`, as often as needed: all must match.",
        tags: ["sessions"],
        querystring: Filter,
        response: { 200: SessionList, ...failures(400) },
      },
    },
    async ({ query }) => {
      const { agent, agentId = agent, status, limit, cursor } = query;
      const { items, nextCursor } = await listSessions(deps.core, {
        ...(agentId !== undefined && { agentId }),
        ...(status && { status }),
        ...(cursor !== undefined && { cursor }),
        labels: labelsOf(query),
        limit,
      });
      return { sessions: items, nextCursor };
    },
  );

  app.get(
    "/sessions/:id",
    {
      schema: {
        operationId: "getSession",
        summary: "Read a session",
        tags: ["sessions"],
        params: IdParams,
        response: { 200: Session, ...failures(404) },
      },
    },
    ({ params }) => getSession(deps.core, params.id),
  );
};

const labelsOf = (query: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query)
      .filter(([name]) => name.startsWith(LABEL))
      .map(([name, value]) => [name.slice(LABEL.length), String(value)]),
  );
