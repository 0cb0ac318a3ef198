import { textLength } from "./blocks.ts";
import { LIMITS } from "./limits.ts";
import { asArray, asRecord, textOf } from "./read.ts";

/**
 * What Slack would refuse in an outgoing body, in words; empty when nothing. The last gate before a post: a body that
 * breaks a limit would be answered `invalid_blocks` for ever, or be posted in pieces.
 */
export function slackBodyProblems(body: unknown): string[] {
  const root = asRecord(body);
  if (!root) return ["the body is not an object"];
  const text = textOf(root, "text") ?? "";
  const blocks = asArray(root["blocks"]);
  const total = text.length + textLength(blocks);
  return [
    ...length("text", text, LIMITS.text),
    ...(total > LIMITS.message ? [`${total} characters in all, ${LIMITS.message} allowed`] : []),
    ...surrogates(body),
    ...blocksProblems(blocks, LIMITS.blocks),
  ];
}

function blocksProblems(blocks: readonly unknown[], most: number): string[] {
  const ids = blocks.map((block) => textOf(asRecord(block), "block_id")).filter((id) => id !== undefined);
  return [
    ...(blocks.length > most ? [`${blocks.length} blocks, ${most} allowed`] : []),
    ...(new Set(ids).size < ids.length ? ["a block_id is used twice"] : []),
    ...blocks.flatMap((block, i) => blockProblems(asRecord(block) ?? {}, `blocks[${i}]`)),
  ];
}

function blockProblems(block: Record<string, unknown>, at: string): string[] {
  switch (block["type"]) {
    case "header":
      return object(block["text"], `${at}.text`, LIMITS.headerText, ["plain_text"]);
    case "section": {
      const fields = asArray(block["fields"]);
      return [
        ...(block["text"] === undefined && fields.length === 0 ? [`${at} has neither text nor fields`] : []),
        ...(block["text"] === undefined ? [] : object(block["text"], `${at}.text`, LIMITS.sectionText)),
        ...count(fields, `${at}.fields`, LIMITS.fields, 0),
        ...fields.flatMap((field, i) => object(field, `${at}.fields[${i}]`, LIMITS.fieldText)),
      ];
    }
    case "context": {
      const elements = asArray(block["elements"]);
      return [
        ...count(elements, `${at}.elements`, LIMITS.contextElements, 1),
        ...elements.flatMap((element, i) => object(element, `${at}.elements[${i}]`, LIMITS.sectionText)),
      ];
    }
    case "actions":
      return actionsProblems(asArray(block["elements"]), `${at}.elements`);
    case "divider":
      return [];
    default:
      return [`${at}.type ${JSON.stringify(block["type"])} is none we send`];
  }
}

function actionsProblems(elements: readonly unknown[], at: string): string[] {
  const ids = elements.map((element) => textOf(asRecord(element), "action_id") ?? "");
  return [
    ...count(elements, at, LIMITS.actionsElements, 1),
    ...(new Set(ids).size < ids.length ? [`${at}: an action_id is used twice`] : []),
    ...elements.flatMap((element, i) => {
      const value = textOf(asRecord(element), "value") ?? "";
      return [
        ...length(`${at}[${i}].action_id`, ids[i] ?? "", LIMITS.identifier),
        ...length(`${at}[${i}].value`, value, LIMITS.buttonValue),
        ...object(asRecord(element)?.["text"], `${at}[${i}].text`, LIMITS.buttonText, ["plain_text"]),
      ];
    }),
  ];
}

/** A text object: of a kind that is allowed here, neither empty nor too long. */
function object(
  value: unknown,
  at: string,
  most: number,
  kinds: readonly string[] = ["plain_text", "mrkdwn"],
): string[] {
  const found = asRecord(value);
  const kind = textOf(found, "type") ?? "";
  if (!kinds.includes(kind)) return [`${at} is not ${kinds.join(" or ")}`];
  return length(`${at}.text`, textOf(found, "text") ?? "", most);
}

const length = (at: string, text: string, most: number): string[] => {
  if (text.trim() === "") return [`${at} is empty`];
  return text.length > most ? [`${at} has ${text.length} characters, ${most} allowed`] : [];
};

const count = (items: readonly unknown[], at: string, most: number, least: number): string[] =>
  items.length > most || items.length < least ? [`${at} has ${items.length} items, ${least} to ${most} allowed`] : [];

function surrogates(value: unknown): string[] {
  if (typeof value === "string") return value.toWellFormed() === value ? [] : ["a string holds a lone surrogate"];
  if (typeof value !== "object" || value === null) return [];
  return [...new Set(Object.values(value).flatMap(surrogates))];
}
