import type { Json } from "../../../src/core/domain/json.ts";
import type { ModelServerReply, ModelServerRequest } from "../fakeModelServer.ts";
import { type Fields, fields, list, text } from "./fields.ts";

const encrypt = (id: string): string => `enc-${id}`;

/** Why the real API would answer 400; null when it would not. */
export function openaiComplaint({ headers, body }: ModelServerRequest): string | null {
  if (!headers.authorization?.startsWith("Bearer ")) return "Missing bearer authentication in header";
  if (body["store"] !== false) return "store: this fake keeps nothing";
  for (const tool of list(body["tools"])) {
    const parameters = fields(tool["parameters"]);
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(text(tool["name"]))) return "tools.name: does not match its pattern";
    if (parameters["type"] !== "object" || !("properties" in parameters))
      return "Invalid schema for function: object schema missing properties.";
    if (tool["strict"] !== false)
      return "Invalid schema for function: 'required' must include every key in properties.";
  }
  return inputComplaint(list(body["input"]));
}

function inputComplaint(input: readonly Fields[]): string | null {
  if (!input.some((item) => item["role"] === "user")) return "input: no user message";
  const seen = new Set<string>();
  const open = new Set<string>();
  for (const [index, item] of input.entries()) {
    const at = `input[${index}]`;
    switch (item["type"] ?? "message") {
      case "function_call": {
        const id = text(item["call_id"]);
        if (id === "" || id.length > 64) return `${at}.call_id: string too long, at most 64`;
        if (seen.has(id)) return `Duplicate call_id ${id}`;
        if (!/^[a-zA-Z0-9_-]+$/.test(text(item["name"]))) return `${at}.name: does not match its pattern`;
        if (typeof item["arguments"] !== "string") return `${at}.arguments: expected a string`;
        seen.add(id);
        open.add(id);
        break;
      }
      case "function_call_output": {
        const id = text(item["call_id"]);
        if (!open.delete(id)) return `No tool call found for function call output with call_id ${id}.`;
        break;
      }
      case "reasoning":
        if (item["encrypted_content"] !== encrypt(text(item["id"])))
          return `${at}.encrypted_content: could not be verified`;
        break;
      default: {
        const [waiting] = open;
        if (waiting) return `No tool output found for function call ${waiting}.`;
        if (typeof item["content"] !== "string" && list(item["content"]).length === 0) return `${at}.content: empty`;
      }
    }
  }
  const [waiting] = open;
  return waiting ? `No tool output found for function call ${waiting}.` : null;
}

export function openaiAnswer(request: ModelServerRequest, reply: Exclude<ModelServerReply, { fault: string }>): Json {
  return {
    id: "resp_fake",
    object: "response",
    created_at: 1_700_000_000,
    model: text(request.body["model"]),
    status: "completed",
    error: null,
    incomplete_details: null,
    output: [
      ...(reply.thinking === undefined
        ? []
        : [
            {
              type: "reasoning",
              id: "rs_1",
              encrypted_content: encrypt("rs_1"),
              summary: [{ type: "summary_text", text: reply.thinking }],
            },
          ]),
      ...(reply.text
        ? [
            {
              type: "message",
              id: "msg_1",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: reply.text, annotations: [] }],
            },
          ]
        : []),
      ...(reply.calls ?? []).map(({ id, name, input, rawArguments }, index) => ({
        type: "function_call",
        id: `fc_${index}`,
        call_id: id ?? `call_${index}`,
        name,
        arguments: rawArguments ?? JSON.stringify(input ?? {}),
        status: "completed",
      })),
    ],
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  };
}
