import { Type } from "@sinclair/typebox";
import { getResult, listResults } from "../../core/flow/results.ts";
import type { Routes } from "./routes.ts";
import { failures, IdParams, Paging, ResultList, ResultRecord } from "./schemas.ts";

const word = () => Type.String({ pattern: "^\\w+$" });
const Query = Type.Object(Paging, { additionalProperties: false });

export const results: Routes = (deps) => async (app) => {
  app.get(
    "/sessions/:id/results",
    {
      schema: {
        operationId: "listResults",
        summary: "List what the agent's result tool reported, newest first",
        tags: ["results"],
        params: IdParams,
        querystring: Query,
        response: { 200: ResultList, ...failures(400, 404) },
      },
    },
    async ({ params: { id }, query: { cursor, limit } }) => {
      const page = await listResults(deps.core, { sessionId: id, limit, ...(cursor !== undefined && { cursor }) });
      return { results: page.items, nextCursor: page.nextCursor };
    },
  );

  app.get(
    "/sessions/:id/turns/:turn/results",
    {
      schema: {
        operationId: "listTurnResults",
        summary: "List what was reported in one turn, newest first",
        tags: ["results"],
        params: Type.Object({ id: word(), turn: word() }),
        querystring: Query,
        response: { 200: ResultList, ...failures(400, 404) },
      },
    },
    async ({ params: { id, turn }, query: { cursor, limit } }) => {
      const filter = { sessionId: id, turnId: turn, limit, ...(cursor !== undefined && { cursor }) };
      const page = await listResults(deps.core, filter);
      return { results: page.items, nextCursor: page.nextCursor };
    },
  );

  app.get(
    "/sessions/:id/results/:result",
    {
      schema: {
        operationId: "getResult",
        summary: "Read one report",
        tags: ["results"],
        params: Type.Object({ id: word(), result: word() }),
        response: { 200: ResultRecord, ...failures(404) },
      },
    },
    ({ params }) => getResult(deps.core, params.id, params.result),
  );
};
