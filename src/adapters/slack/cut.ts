import { escapedLength, escapeGrowth, escapeText } from "./text.ts";

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * The largest place at or before `max` UTF-16 units where no character as a reader sees it is torn. A single one
 * longer than `max` is cut between code points: it has to be cut somewhere.
 */
export function cutPoint(text: string, max: number): number {
  if (text.length <= max) return text.length;
  const whole = graphemes.segment(text.slice(0, max + 2)).containing(max)?.index ?? 0;
  if (whole > 0) return whole;
  const low = text.charCodeAt(max);
  const torn = low >= 0xdc00 && low <= 0xdfff && max > 1;
  return Math.max(1, torn ? max - 1 : max);
}

/** `text` within `max` units; what is missing is told by `mark` at its end. */
export function cut(text: string, max: number, mark = "…"): string {
  if (text.length <= max) return text;
  return text.slice(0, cutPoint(text, max - mark.length)) + mark;
}

/** How many units of `text` stay within `budget` once escaped. */
export function escapedFit(text: string, budget: number): number {
  let spent = 0;
  for (let i = 0; i < text.length; i++) {
    spent += 1 + escapeGrowth(text.charCodeAt(i));
    if (spent > budget) return i;
  }
  return text.length;
}

/** `text` escaped and within `max` units of what is sent; cut before escaping, so that no `&amp;` is torn. */
export function cutEscaped(text: string, max: number): string {
  if (escapedLength(text) <= max) return escapeText(text);
  return `${escapeText(text.slice(0, cutPoint(text, escapedFit(text, max - 1))))}…`;
}

/** `text` in pieces of at most `size` units, nothing lost. */
export function chunks(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest.length > 0; ) {
    const end = cutPoint(rest, size);
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return pieces;
}
