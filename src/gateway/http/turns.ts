import { Type } from "@sinclair/typebox";
import { CountersignError } from "../../core/domain/errors.ts";
import { type Json, toJson } from "../../core/domain/json.ts";
import { submitTurn } from "../../core/flow/queueTurn.ts";
import { toTurnView } from "../../core/flow/views.ts";
import type { Routes } from "./routes.ts";
import { failures, IdempotencyHeader, IdParams, TurnBody, TurnMode, text } from "./schemas.ts";

const NewTurn = Type.Object({
  input: Type.String({ minLength: 1, description: "What the agent is told." }),
  payload: Type.Optional(Type.Unknown({ description: "Any JSON; the agent reads it from useInput()." })),
  mode: Type.Optional(TurnMode),
  idempotencyKey: Type.Optional(text(1, 255)),
});

export const turns: Routes = (deps) => async (app) => {
  app.post(
    "/sessions/:id/turns",
    {
      schema: {
        operationId: "submitTurn",
        summary: "Queue a turn",
        description:
          "An open question is closed. The same idempotency key with the same input is answered 200 with its turn.",
        tags: ["turns"],
        params: IdParams,
        headers: IdempotencyHeader,
        body: NewTurn,
        response: { 200: TurnBody, 202: TurnBody, ...failures(400, 404, 409, 413) },
      },
    },
    async ({ params, body, headers }, reply) => {
      const { turn, duplicate, interrupts, wakes } = await submitTurn(deps.core, {
        sessionId: params.id,
        text: body.input,
        ...(body.payload !== undefined && { payload: asPayload(body.payload) }),
        mode: body.mode ?? "queue",
        idempotencyKey: body.idempotencyKey ?? headers["idempotency-key"] ?? null,
      });
      await deps.ring(wakes);
      if (interrupts) deps.nudge();
      return reply.code(duplicate ? 200 : 202).send({ turn: toTurnView(turn) });
    },
  );
};

/** Parsed JSON can still be nested deeper than everything behind this can walk. */
function asPayload(payload: unknown): Json {
  const json = toJson(payload);
  if (!json.ok) throw new CountersignError("bad_request", `body: payload is not valid, ${json.error.reason}.`);
  return json.value;
}
