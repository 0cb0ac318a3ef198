import { withIds } from "../blocks/buttons.ts";
import { findProblems } from "../blocks/check.ts";
import { LIMITS, MESSAGE_SIZE, messageSize } from "../blocks/limits.ts";
import { isObject, type JsonObject } from "../message.ts";
import type { Arguments } from "./arguments.ts";
import type { MethodDeps } from "./method.ts";
import { violation } from "./refusal.ts";

/** `advised`: beyond it a third party saw one post become several. `cut`: beyond it Slack documents truncation. */
const TEXT = { advised: 4_000, cut: 40_000 } as const;

export interface Content {
  readonly text: string | undefined;
  readonly blocks: readonly JsonObject[] | undefined;
  readonly metadata: JsonObject | undefined;
}

/**
 * `text`, `blocks`, `markdown_text` and `metadata` of a message that is posted or changed. An argument that is absent is
 * undefined. Throws Slack's errors for what breaks a limit; posts that Slack takes but alters leave a `warning`.
 */
export function readContent(method: string, args: Arguments, { ids, log }: Pick<MethodDeps, "ids" | "log">): Content {
  const markdown = args.text("markdown_text");
  const given = args.text("text");
  if (markdown !== undefined && (given !== undefined || args.json("blocks", "invalid_blocks_format") !== undefined)) {
    throw violation("markdown_text_conflict");
  }
  if (markdown !== undefined && markdown.length > LIMITS.markdown) throw violation("msg_too_long");
  const blocks =
    markdown !== undefined
      ? [{ type: "markdown", text: markdown }]
      : checkBlocks(args.json("blocks", "invalid_blocks_format"));
  const text = given ?? markdown;
  if (given !== undefined && given.length > TEXT.advised) {
    // Seen near 4,000 characters for updates; a post that long is taken, but not as one message.
    if (method === "chat.update") throw violation("msg_too_long");
    log.addViolation({
      method,
      error: "warning",
      messages: [
        `text of ${given.length} characters: over ${TEXT.advised} Slack may split it, over ${TEXT.cut} it cuts`,
      ],
    });
  }
  return {
    text: text?.slice(0, TEXT.cut),
    blocks: blocks && withIds(blocks, () => ids.next("").slice(-5)),
    metadata: readMetadata(args),
  };
}

function checkBlocks(value: unknown): readonly JsonObject[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw violation("invalid_blocks_format", "blocks must be an array");
  const problems = findProblems(value, "message");
  if (problems.length > 0) throw violation("invalid_blocks", ...problems);
  const size = messageSize(value);
  if (size > MESSAGE_SIZE.total) throw violation("msg_blocks_too_long", `${size} of ${MESSAGE_SIZE.total}`);
  return value.filter(isObject);
}

/** `{}` on an update removes what was there. */
function readMetadata(args: Arguments): JsonObject | undefined {
  const metadata = args.object("metadata", "invalid_metadata_format");
  if (metadata === undefined || Object.keys(metadata).length === 0) return metadata;
  if (typeof metadata["event_type"] !== "string" || metadata["event_type"] === "") {
    throw violation("invalid_metadata_format", "event_type must be a string");
  }
  if (!isObject(metadata["event_payload"])) {
    throw violation("invalid_metadata_format", "event_payload must be an object");
  }
  return metadata;
}
