import type { Json } from "../../../src/core/domain/json.ts";
import type { ModelServerReply, ModelServerRequest } from "../fakeModelServer.ts";
import { type Fields, fields, list, text } from "./fields.ts";

/** Every signature this fake ever gave out; a thinking block with another one is refused, as the real API does. */
const sign = (thinking: string): string => `sig-${Buffer.from(thinking).toString("base64url")}`;

/** Why the real API would answer 400, in its words as near as needed; null when it would not. */
export function anthropicComplaint({ headers, body }: ModelServerRequest): string | null {
  if (!headers["x-api-key"]) return "x-api-key: missing";
  if (!headers["anthropic-version"]) return "anthropic-version: missing";
  if (typeof body["model"] !== "string" || body["model"].includes(".")) return "model: not an Anthropic model id";
  if (typeof body["max_tokens"] !== "number") return "max_tokens: Field required";
  if (list(body["system"]).some((block) => blank(block["text"])))
    return "system: text content blocks must be non-empty";
  return toolsComplaint(list(body["tools"])) ?? messagesComplaint(list(body["messages"]));
}

function toolsComplaint(tools: readonly Fields[]): string | null {
  const names = tools.map((tool) => text(tool["name"]));
  if (new Set(names).size !== names.length) return "tools: Tool names must be unique.";
  if (names.some((name) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name))) return "tools: name does not match its pattern";
  if (tools.some((tool) => fields(tool["input_schema"])["type"] !== "object"))
    return "tools.input_schema.type: Field required";
  return null;
}

function messagesComplaint(messages: readonly Fields[]): string | null {
  if (messages.length === 0) return "messages: at least one message is required";
  if (messages[0]?.["role"] !== "user") return 'messages: first message must use the "user" role';
  const seen = new Set<string>();
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const content = list(message["content"]);
    const at = `messages.${index}`;
    if (content.length === 0) return `${at}: content must not be empty`;
    if (content.some((block) => block["type"] === "text" && blank(block["text"])))
      return `${at}: text content blocks must be non-empty`;
    const results = content
      .filter((block) => block["type"] === "tool_result")
      .map((block) => text(block["tool_use_id"]));
    const calls = content.filter((block) => block["type"] === "tool_use");
    if (message["role"] === "user") {
      const missing = open.find((id) => !results.includes(id));
      if (missing)
        return `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing}`;
      const foreign = results.find((id) => !open.includes(id));
      if (foreign) return `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${foreign}`;
      if (new Set(results).size !== results.length) return `${at}: each tool_use must have a single result`;
      const firstOther = content.findIndex((block) => block["type"] !== "tool_result");
      if (firstOther !== -1 && firstOther < results.length) return `${at}: \`tool_result\` blocks must come first`;
      open = [];
    } else {
      if (open.length > 0) return `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
      for (const call of calls) {
        const id = text(call["id"]);
        if (!/^[a-zA-Z0-9_-]+$/.test(id)) return `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
        if (seen.has(id)) return `${at}: \`tool_use\` ids must be unique`;
        if (!/^[a-zA-Z0-9_-]{1,128}$/.test(text(call["name"])))
          return `${at}.tool_use.name: does not match its pattern`;
        const input = call["input"];
        if (typeof input !== "object" || input === null || Array.isArray(input))
          return `${at}.tool_use.input: Input should be a valid dictionary`;
        seen.add(id);
        open.push(id);
      }
      const thinking = content.filter((block) => block["type"] === "thinking");
      if (thinking.some((block) => block["signature"] !== sign(text(block["thinking"]))))
        return `${at}: Invalid \`signature\` in \`thinking\` block`;
    }
  }
  if (open.length > 0) return "messages: `tool_use` ids were found without `tool_result` blocks immediately after";
  if (messages.at(-1)?.["role"] !== "user") return "This model does not support assistant message prefill.";
  return null;
}

export function anthropicAnswer(
  request: ModelServerRequest,
  reply: Exclude<ModelServerReply, { fault: string }>,
): Json {
  const calls = (reply.calls ?? []).map(({ id, name, input }, index) => ({
    type: "tool_use",
    id: id ?? `toolu_${index}`,
    name,
    input: input ?? {},
  }));
  return {
    id: "msg_fake",
    type: "message",
    role: "assistant",
    model: text(request.body["model"]),
    content: [
      ...(reply.thinking === undefined
        ? []
        : [{ type: "thinking", thinking: reply.thinking, signature: sign(reply.thinking) }]),
      ...(reply.text ? [{ type: "text", text: reply.text }] : []),
      ...calls,
    ],
    stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 7 },
  };
}

const blank = (value: unknown): boolean => text(value).trim() === "";
