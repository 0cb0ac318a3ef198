import type { Json } from "../domain/json.ts";
import type { Fact, Preview } from "../domain/message.ts";

/** Bounds of what a card shows (A1, A8), in code points. */
export const PREVIEW_LIMITS = { title: 200, summary: 2_000, facts: 20, label: 100, value: 60_000 } as const;

/** Reads what `preview` returned. A string: why it is no preview, for the model and the author. */
export function readPreview(value: Json): Preview | string {
  if (!isRecord(value)) return "preview must return an object with a title";
  const { title, summary, facts = [] } = value;
  const badTitle = checkText("title", title, 1, PREVIEW_LIMITS.title);
  if (badTitle) return badTitle;
  const badSummary =
    summary === undefined || summary === null ? null : checkText("summary", summary, 0, PREVIEW_LIMITS.summary);
  if (badSummary) return badSummary;
  if (!Array.isArray(facts)) return "facts must be an array";
  if (facts.length > PREVIEW_LIMITS.facts)
    return `facts has ${facts.length} entries; at most ${PREVIEW_LIMITS.facts} fit a card`;
  const read: Fact[] = [];
  for (const [i, fact] of facts.entries()) {
    const one = readFact(fact, `facts[${i}]`);
    if (typeof one === "string") return one;
    read.push(one);
  }
  return {
    title: title as string,
    ...(typeof summary === "string" && summary !== "" && { summary }),
    facts: read,
  };
}

function readFact(fact: Json, at: string): Fact | string {
  if (!isRecord(fact)) return `${at} must be an object with label and value`;
  const badLabel = checkText(`${at}.label`, fact.label, 1, PREVIEW_LIMITS.label);
  if (badLabel) return badLabel;
  const { value } = fact;
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    return `${at}.value must be text, a number or a boolean`;
  }
  const text = String(value);
  return checkText(`${at}.value`, text, 0, PREVIEW_LIMITS.value) ?? { label: fact.label as string, value: text };
}

function checkText(at: string, value: Json | undefined, min: number, max: number): string | null {
  if (typeof value !== "string") return `${at} must be text`;
  // Code points, counted only where the cheaper bound of UTF-16 units does not settle it.
  const length = value.length <= max ? value.length : [...value].length;
  if (value.trim().length < min) return `${at} must not be empty`;
  return length > max ? `${at} has ${length} characters; at most ${max} fit a card` : null;
}

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
