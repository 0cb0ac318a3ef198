import { isObject, type JsonObject } from "../message.ts";
import { LIMITS } from "./limits.ts";

/** Gathers what is wrong with a tree of blocks, each with the place where it is. */
export interface Problems {
  /** `at` is a JSON pointer, `/blocks/0/text`. */
  add(at: string, message: string): void;
  /** In Slack's words: `must be less than 3001 characters [json-pointer:/blocks/0/text/text]`. */
  list(): readonly string[];
}

export function createProblems(): Problems {
  const found: string[] = [];
  return { add: (at, message) => found.push(`${message} [json-pointer:${at}]`), list: () => found };
}

export interface TextRule {
  readonly max: number;
  readonly plain?: boolean;
}

/** A string of `min`..`max` units without lone surrogates. */
export function checkString(problems: Problems, at: string, value: unknown, max: number, min = 1): void {
  if (typeof value !== "string") problems.add(at, "must be a string");
  else if (value.length > max) problems.add(at, `must be less than ${max + 1} characters`);
  else if (value.length < min) problems.add(at, `must be more than ${min - 1} characters`);
  // WebClient sends one in blocks as `\ud83d`; nothing good is documented to become of it.
  else if (hasLoneSurrogate(value)) problems.add(at, "must be well-formed Unicode");
}

export const checkOptionalString = (problems: Problems, at: string, value: unknown, max: number): void => {
  if (value !== undefined) checkString(problems, at, value, max);
};

/** A text object: `plain_text` or `mrkdwn`, or only `plain_text` where Slack takes nothing else. */
export function checkText(problems: Problems, at: string, value: unknown, { max, plain = false }: TextRule): void {
  if (!isObject(value)) {
    problems.add(at, "must be a text object");
    return;
  }
  if (value["type"] !== "plain_text" && (plain || value["type"] !== "mrkdwn")) {
    problems.add(`${at}/type`, plain ? "must be plain_text" : "must be plain_text or mrkdwn");
  }
  if (value["type"] === "mrkdwn" && "emoji" in value) problems.add(`${at}/emoji`, "is allowed in plain_text only");
  checkString(problems, `${at}/text`, value["text"], max);
}

/** An array of at least one item and at most `max`; hands each to `check`. */
export function checkItems(
  problems: Problems,
  at: string,
  value: unknown,
  max: number,
  check: (item: JsonObject, at: string) => void,
): void {
  if (!Array.isArray(value)) {
    problems.add(at, "must be an array");
    return;
  }
  if (value.length === 0) problems.add(at, "no fewer than 1 items allowed");
  if (value.length > max) problems.add(at, `no more than ${max} items allowed`);
  value.forEach((item: unknown, i) => {
    if (isObject(item)) check(item, `${at}/${i}`);
    else problems.add(`${at}/${i}`, "must be an object");
  });
}

/** Reports every id that came before; an id over its length, too. */
export function createUniqueIds(problems: Problems, name: "block_id" | "action_id"): (at: string, id: unknown) => void {
  const seen = new Set<unknown>();
  return (at, id) => {
    if (id === undefined) return;
    checkString(problems, `${at}/${name}`, id, LIMITS.id);
    if (seen.has(id)) problems.add(`${at}/${name}`, `\`${name}\` ${JSON.stringify(id)} already exists`);
    seen.add(id);
  };
}

const hasLoneSurrogate = (text: string): boolean =>
  /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
