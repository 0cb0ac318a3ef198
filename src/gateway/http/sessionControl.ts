import { Type } from "@sinclair/typebox";
import { answerByApi } from "../../core/flow/answerQuestion.ts";
import { endSession } from "../../core/flow/endSession.ts";
import { interrupt } from "../../core/flow/interrupt.ts";
import { getSession, toTurnView } from "../../core/flow/views.ts";
import type { Routes } from "./routes.ts";
import { failures, IdParams, Session, TurnBody, text, words } from "./schemas.ts";

const Answer = Type.Object({
  questionId: text(1, 100),
  text: words(),
  value: Type.Optional(Type.String({ description: "The chosen option's value." })),
});

/** Answer, interrupt, end: what steers a session from outside. */
export const sessionControl: Routes = (deps) => async (app) => {
  app.post(
    "/sessions/:id/answer",
    {
      schema: {
        operationId: "answerQuestion",
        summary: "Answer the session's open question",
        tags: ["sessions"],
        params: IdParams,
        body: Answer,
        response: { 202: TurnBody, ...failures(400, 404, 409, 413) },
      },
    },
    async ({ params, body: { questionId, text, value } }, reply) => {
      const { turn, wakes } = await answerByApi(deps.core, {
        sessionId: params.id,
        questionId,
        text,
        ...(value !== undefined && { value }),
      });
      await deps.ring(wakes);
      return reply.code(202).send({ turn: toTurnView(turn) });
    },
  );

  app.post(
    "/sessions/:id/interrupt",
    {
      schema: {
        operationId: "interruptSession",
        summary: "Stop the running turn",
        description: "The turn settles as cancelled once what it started has stopped; an idle session stays as it is.",
        tags: ["sessions"],
        params: IdParams,
        response: { 200: Session, ...failures(404, 409) },
      },
    },
    async ({ params }) => {
      const { interrupted } = await interrupt(deps.core, params.id);
      if (interrupted) deps.nudge();
      return getSession(deps.core, params.id);
    },
  );

  app.post(
    "/sessions/:id/end",
    {
      schema: {
        operationId: "endSession",
        summary: "End the session",
        description:
          "Its turns are cancelled and its question is closed; pending decisions live on. Ending twice is ending.",
        tags: ["sessions"],
        params: IdParams,
        response: { 200: Session, ...failures(404) },
      },
    },
    async ({ params }) => {
      const { wakes } = await endSession(deps.core, params.id);
      await deps.ring(wakes);
      deps.nudge();
      return getSession(deps.core, params.id);
    },
  );
};
