import type { DataValue, JsonSchema, ResourceReference } from "./data.ts";
import { mark } from "./mark.ts";
import {
  descriptionProblem,
  type Entries,
  entriesProblem,
  nameProblem,
  resultProblem,
  type ShapeProblem,
  schemaProblem,
} from "./toolShape.ts";

/** What a caller of `tool.run` hands over; in a project's own tests the signal may be left out. */
export interface ToolExecutionContext {
  /** The call's arguments, checked against `input` and otherwise as the model sent them. */
  readonly input: Record<string, unknown>;
  readonly sessionId: string;
  /** The message that holds the call. */
  readonly messageId: string;
  /** Unique within the session; the same when this invocation is retried after a crash. */
  readonly toolCallId: string;
  readonly agentId: string;
  /** Fires when the turn is interrupted or the time is up. */
  readonly signal?: AbortSignal;
  reportProgress(metadata: Readonly<Record<string, DataValue>>): Promise<void>;
}

/** What the author's functions get: the same, and always with a signal. */
export interface ToolContext extends ToolExecutionContext {
  readonly signal: AbortSignal;
}

export interface ApplyContext extends ToolContext {
  readonly decision: ApprovalDecision;
}

export interface VerifyContext {
  readonly input: Record<string, unknown>;
  readonly decision: ApprovalDecision;
  readonly signal: AbortSignal;
}

/** One approval. `id` is the same on every attempt: hand it to whatever you call as the idempotency key. */
export interface ApprovalDecision {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly decidedAt: string;
  readonly decidedBy?: {
    readonly provider: "slack" | "linear" | "api";
    readonly workspaceId: string;
    readonly userId: string;
    readonly name?: string;
  };
}

/** The card a person decides on: title 1 to 200 characters, summary up to 2,000, at most 20 facts. */
export interface ApprovalPreview {
  readonly title: string;
  readonly summary?: string;
  readonly facts?: readonly ApprovalFact[];
}

export interface ApprovalFact {
  readonly label: string;
  readonly value: string | number | boolean;
}

/** What `verify` found out about a write whose outcome is unknown. */
export interface ApprovalVerification {
  readonly applied: true | false | "unknown";
  readonly note?: string;
}

interface ToolDescription {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
}

/** A tool that acts as soon as the model calls it. */
export interface RunToolInput extends ToolDescription {
  /** `true`: its latest value is the session's result. */
  readonly result?: boolean;
  run(context: ToolContext): unknown;
  readonly preview?: never;
  readonly apply?: never;
  readonly verify?: never;
}

/** A tool that waits for a person: `preview` reads and shows, `apply` writes once somebody approved. */
export interface ApprovalToolInput extends ToolDescription {
  readonly result?: false;
  readonly run?: never;
  preview(context: ToolContext): ApprovalPreview | Promise<ApprovalPreview>;
  apply(context: ApplyContext): unknown;
  verify?(context: VerifyContext): ApprovalVerification | Promise<ApprovalVerification>;
}

export type ToolInput = RunToolInput | ApprovalToolInput;

export interface ToolDefinition extends ResourceReference {
  readonly kind: "tool";
  readonly version: 1;
  /** The same as `name`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
  readonly result: boolean;
  run(context: ToolExecutionContext): unknown;
  readonly preview?: ApprovalToolInput["preview"];
  readonly apply?: ApprovalToolInput["apply"];
  readonly verify?: NonNullable<ApprovalToolInput["verify"]>;
}

/**
 * Declares a tool: `run`, or `preview` and `apply`. Throws one sentence that names the tool when its shape is wrong.
 * For an approval tool `run` is written here: the gateway records its call for approval, so there is nothing to run.
 */
export function defineTool(tool: ToolInput): ToolDefinition {
  check(tool);
  const { name, description, input, output, result = false } = tool;
  return mark("tool", {
    kind: "tool" as const,
    version: 1 as const,
    id: name,
    name,
    description,
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    result,
    ...(tool.run ? { run: withSignal(tool.run.bind(tool)) } : approval(tool)),
  });
}

const withSignal =
  (run: RunToolInput["run"]): ToolDefinition["run"] =>
  (context) =>
    run({ ...context, signal: context.signal ?? new AbortController().signal });

function approval(tool: ApprovalToolInput): Pick<ToolDefinition, "run" | "preview" | "apply" | "verify"> {
  return {
    run: () => {
      throw new Error(
        `${tool.name} waits for a person: the gateway records its call for approval. In a test, call its preview and apply.`,
      );
    },
    preview: tool.preview.bind(tool),
    apply: tool.apply.bind(tool),
    ...(tool.verify ? { verify: tool.verify.bind(tool) } : {}),
  };
}

const ENTRIES = ["run", "preview", "apply", "verify"] as const;

/** JavaScript callers reach this too, so nothing the types promise is taken for granted. */
function check(tool: unknown): asserts tool is ToolInput {
  if (typeof tool !== "object" || tool === null)
    throw new TypeError("defineTool takes an object with name, description and run.");
  const fields = tool as Readonly<Record<string, unknown>>;
  const has = Object.fromEntries(ENTRIES.map((entry) => [entry, fields[entry] !== undefined])) as unknown as Entries;
  refuse(
    fields,
    nameProblem(fields["name"]) ??
      descriptionProblem(fields["description"]) ??
      schemaProblem("input", fields["input"]) ??
      schemaProblem("output", fields["output"]) ??
      notFunction(fields) ??
      entriesProblem(has) ??
      resultProblem(fields["result"], fields["output"] !== undefined, has),
  );
}

function notFunction(fields: Readonly<Record<string, unknown>>): ShapeProblem | null {
  const wrong = ENTRIES.find((entry) => fields[entry] !== undefined && typeof fields[entry] !== "function");
  return wrong === undefined
    ? null
    : { what: `${wrong} is not a function`, instead: `write async ${wrong}(context) { … }` };
}

function refuse(fields: Readonly<Record<string, unknown>>, problem: ShapeProblem | null): void {
  if (!problem) return;
  const name = typeof fields["name"] === "string" ? ` ${JSON.stringify(fields["name"])}` : "";
  throw new TypeError(`defineTool${name}: ${problem.what}; ${problem.instead}.`);
}
