import { ERRORS, type ErrorCode } from "../domain/errors.ts";
import type { OpenCall } from "../domain/history.ts";
import type { Json } from "../domain/json.ts";
import type { Option, Preview } from "../domain/message.ts";
import type { InvokeResult, ProvidedTool, Runtime } from "../ports.ts";
import { ASK, readQuestion } from "./ask.ts";
import type { Offered } from "./offerTools.ts";
import { readPreview } from "./preview.ts";
import { resultProblem } from "./resultValue.ts";
import type { SchemaCheck } from "./schema.ts";

/** How one call of the model ended. What it means for the turn is the flow's business. */
export type CallOutcome =
  | { readonly kind: "completed"; readonly output: Json }
  /** By the result tool: a success only once it is committed (T6). */
  | { readonly kind: "reported"; readonly output: Json }
  | { readonly kind: "asked"; readonly text: string; readonly options: readonly Option[] }
  | { readonly kind: "proposed"; readonly preview: Preview }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string };

export interface CallContext {
  readonly runtime: Runtime;
  readonly check: SchemaCheck;
  /** What the render of this step selected; nothing else may be called (T10). */
  readonly offered: Offered;
  /** The result tool's `output`. */
  readonly resultSchema: Json;
  readonly sessionId: string;
  readonly agentId: string;
  readonly timeoutMs: number;
  /** These calls were begun before, by a worker that is gone. */
  readonly again: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (call: OpenCall, metadata: Json) => void;
}

const failed = (code: ErrorCode, message: string = ERRORS[code].message): CallOutcome => ({
  kind: "failed",
  code,
  message,
});

/** Runs one call: finds the tool, checks the arguments (T4), then asks, previews or runs. Never throws for the tool. */
export async function callTool(call: OpenCall, context: CallContext): Promise<CallOutcome> {
  const tool = context.offered.own.find((t) => (t.kind === "builtin" ? t.id : t.name) === call.tool);
  const provided = context.offered.provided.find(({ name }) => name === call.tool);
  if (!tool && !provided) return failed("tool_unknown", `There is no tool "${call.tool}" in this step.`);
  if (call.malformed !== undefined)
    return failed("tool_arguments_invalid", `The arguments are not JSON: ${call.malformed}`);
  const schema: Json = tool?.kind === "builtin" ? ASK.input : ((tool ?? provided)?.input ?? null);
  const mismatch = checkArguments(context.check, schema, call.input);
  if (mismatch !== null) return failed("tool_arguments_invalid", `Invalid arguments: ${mismatch}`);
  if (!tool) return provided ? runProvided(provided, call, context) : failed("tool_unknown");
  if (tool.kind === "builtin") {
    const question = readQuestion(call.input);
    return typeof question === "string" ? failed("tool_arguments_invalid", question) : { kind: "asked", ...question };
  }
  const result = await invoke(call, tool.kind === "approval" ? "preview" : "run", context);
  if (tool.kind === "run") return tool.result ? toReport(result, context) : result;
  if (result.kind === "failed") {
    return result.code === "tool_failed" ? failed("preview_failed", `The preview failed: ${result.message}`) : result;
  }
  const preview = result.kind === "completed" ? readPreview(result.output) : "preview returned nothing";
  return typeof preview === "string" ? failed("preview_failed", preview) : { kind: "proposed", preview };
}

function runProvided(tool: ProvidedTool, call: OpenCall, context: CallContext): Promise<CallOutcome> {
  return tool.run({
    callId: call.callId,
    messageId: call.messageId,
    input: call.input,
    again: context.again,
    signal: context.signal,
    onProgress: (metadata) => context.onProgress(call, metadata),
  });
}

function toReport(outcome: CallOutcome, { check, resultSchema }: CallContext): CallOutcome {
  if (outcome.kind !== "completed") return outcome;
  const problem = resultProblem(check, resultSchema, outcome.output);
  return problem === null ? { kind: "reported", output: outcome.output } : failed("tool_result_invalid", problem);
}

function checkArguments(check: SchemaCheck, schema: Json, input: Json): string | null {
  try {
    return check(schema, input);
  } catch {
    return "the tool's input schema cannot be compiled; its author has to fix it";
  }
}

async function invoke(call: OpenCall, entry: "run" | "preview", context: CallContext): Promise<CallOutcome> {
  const result = await context.runtime.invoke({
    tool: call.tool,
    entry,
    input: JSON.stringify(call.input),
    context: {
      sessionId: context.sessionId,
      agentId: context.agentId,
      messageId: call.messageId,
      toolCallId: call.callId,
    },
    timeoutMs: context.timeoutMs,
    signal: context.signal,
    onProgress: (metadata) => context.onProgress(call, metadata),
  });
  return toOutcome(result);
}

function toOutcome(result: InvokeResult): CallOutcome {
  switch (result.kind) {
    case "returned":
      return { kind: "completed", output: result.value };
    case "threw":
      return failed("tool_failed", result.message);
    case "timedOut":
      return failed("tool_timed_out");
    case "aborted":
      return failed("tool_interrupted");
    case "lost":
      return failed("runtime_lost");
  }
}
