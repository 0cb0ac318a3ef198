import type { ModelPort, ModelRequest, ModelStep } from "../ports.ts";
import { demoAnswer } from "./demoScript.ts";

/** Stands before every text it writes, questions included: nobody shall take it for a real model. */
const DEMO_LABEL = "[demo model]";

const DEMO_MODEL = "demo/scripted";

/** The scripted model that answers when no key is set; a pure function of the request, whatever model the agent names. */
export function createDemoModel(): ModelPort {
  return {
    async step(request) {
      request.signal.throwIfAborted();
      return demoStep(request);
    },
  };
}

export function demoStep(request: Pick<ModelRequest, "history" | "tools">): ModelStep {
  const answer = demoAnswer({ history: request.history, offered: request.tools.map((tool) => tool.name) });
  const spent = { usage: { inputTokens: 0, outputTokens: 0 }, model: DEMO_MODEL };
  if (answer.kind === "say") return { text: label(answer.text), calls: [], ...spent };
  const input = answer.tool === "ask" ? { ...answer.input, text: label(answer.input.text) } : answer.input;
  return {
    text: "",
    calls: [{ providerCallId: `demo_${request.history.length}`, tool: answer.tool, input }],
    ...spent,
  };
}

const label = (text: string): string => `${DEMO_LABEL} ${text}`;
