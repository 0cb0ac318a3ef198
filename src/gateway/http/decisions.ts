import { Type } from "@sinclair/typebox";
import { CountersignError } from "../../core/domain/errors.ts";
import type { Person } from "../../core/domain/message.ts";
import { type Decide, decideByApi } from "../../core/flow/decide.ts";
import { getDecision, listDecisions } from "../../core/flow/views.ts";
import type { Routes } from "./routes.ts";
import { Decision, DecisionList, DecisionStatus, failures, IdParams, Paging, text, words } from "./schemas.ts";

const Filter = Type.Object(
  { status: Type.Optional(DecisionStatus), session: Type.Optional(text(1, 100)), ...Paging },
  { additionalProperties: false },
);

const Word = Type.Object({
  by: words({ maxLength: 200, description: "Who decides. The holder of the key vouches for it; it is recorded." }),
  reason: Type.Optional(text(0, 2_000)),
});

const VERBS: readonly { readonly verb: Decide["verb"]; readonly operationId: string; readonly summary: string }[] = [
  { verb: "approve", operationId: "approveDecision", summary: "Approve a pending write; it is then applied" },
  { verb: "reject", operationId: "rejectDecision", summary: "Reject a pending write" },
  { verb: "run-again", operationId: "runDecisionAgain", summary: "Authorise one more attempt of an unconfirmed write" },
];

export const decisions: Routes = (deps) => async (app) => {
  app.get(
    "/decisions",
    {
      schema: {
        operationId: "listDecisions",
        summary: "List decisions, newest first",
        tags: ["decisions"],
        querystring: Filter,
        response: { 200: DecisionList, ...failures(400) },
      },
    },
    async ({ query: { status, session, cursor, limit } }) => {
      const { items, nextCursor } = await listDecisions(deps.core, {
        ...(status && { status }),
        ...(session !== undefined && { sessionId: session }),
        ...(cursor !== undefined && { cursor }),
        limit,
      });
      return { decisions: items, nextCursor };
    },
  );

  app.get(
    "/decisions/:id",
    {
      schema: {
        operationId: "getDecision",
        summary: "Read a decision, its arguments and its attempts",
        tags: ["decisions"],
        params: IdParams,
        response: { 200: Decision, ...failures(404) },
      },
    },
    ({ params }) => getDecision(deps.core, params.id),
  );

  for (const { verb, operationId, summary } of VERBS) {
    app.post(
      `/decisions/:id/${verb}`,
      {
        schema: {
          operationId,
          summary,
          description: "409 says who was first, or why it is too late; nothing changed.",
          tags: ["decisions"],
          params: IdParams,
          body: Word,
          response: { 200: Decision, ...failures(400, 404, 409, 413) },
        },
      },
      async ({ params, body: { by, reason } }) => {
        const word = { decisionId: params.id, verb, by: vouchedFor(by), ...(reason !== undefined && { reason }) };
        const decided = await decideByApi(deps.core, word);
        await deps.ring(decided.wakes);
        if (!decided.ok) throw new CountersignError(decided.code, decided.message);
        return getDecision(deps.core, params.id);
      },
    );
  }
};

/** The record says that the key's holder named this person, and no platform (A7). */
const vouchedFor = (by: string): Person => ({ provider: "api", workspaceId: "api", userId: by, name: by });
