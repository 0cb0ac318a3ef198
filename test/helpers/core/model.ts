import type { Json } from "../../../src/core/domain/json.ts";
import type { ModelPort, ModelRequest, ModelStep } from "../../../src/core/ports.ts";

export interface ScriptedStep {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input: Json; readonly malformed?: string }[];
}

type Scripted = ScriptedStep | ((request: ModelRequest) => ScriptedStep | Promise<ScriptedStep>);

export interface ScriptedModel extends ModelPort {
  readonly requests: readonly ModelRequest[];
  /** What the next steps say, one each. With nothing left, a step says "Noted.". */
  script(...steps: Scripted[]): void;
  reset(): void;
}

/** Gives every call the same provider id: models do repeat them (T3). */
export function createScriptedModel(): ScriptedModel {
  const requests: ModelRequest[] = [];
  const steps: Scripted[] = [];
  return {
    requests,
    script: (...more) => void steps.push(...more),
    async step(request): Promise<ModelStep> {
      requests.push(structuredClone({ ...request, signal: undefined }) as unknown as ModelRequest);
      const next = steps.shift() ?? { text: "Noted." };
      const { text = "", calls = [] } = typeof next === "function" ? await next(request) : next;
      return {
        text,
        calls: calls.map((call) => ({ providerCallId: "call_0", ...call })),
        usage: { inputTokens: 1, outputTokens: 1 },
        model: "test/scripted",
      };
    },
    reset() {
      requests.length = 0;
      steps.length = 0;
    },
  };
}
