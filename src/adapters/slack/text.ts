declare global {
  interface String {
    /** In Node since 20; TypeScript knows it from lib es2024 on, and we compile for es2023. */
    toWellFormed(): string;
  }
}

/** For mrkdwn and for every top-level `text`: without `<` nothing is a mention, a link or a date. */
export const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

/** Incoming text to what was typed; in one pass, so that a typed `&amp;lt;` stays `&lt;`. */
export const unescapeText = (text: string): string =>
  text.replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity);

/** How long `text` is once escaped, without building it. */
export function escapedLength(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) length += escapeGrowth(text.charCodeAt(i));
  return length;
}

export const escapeGrowth = (unit: number): number => (unit === 0x26 ? 4 : unit === 0x3c || unit === 0x3e ? 3 : 0);

/** Every string in `value`, at any depth, without lone surrogates: one in `text` makes WebClient throw before it sends. */
export function wellFormed<T>(value: T): T;
export function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item) => wellFormed(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, nested]) => [key, wellFormed(nested)]));
}

/**
 * An emoji with its joiners, left as it is, or a character that hides, reorders or imitates: controls, format
 * characters (bidi, zero width, tags), line and paragraph separators, private and unassigned ones, fillers that look
 * like nothing. Spaces of other widths stay: they look like what they are, and `Intl.NumberFormat` writes them.
 */
const EMOJI_OR_HIDDEN =
  /(\p{Extended_Pictographic}\p{EMod}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{EMod}?\ufe0f?)*)|[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

const visible = (text: string): string =>
  text.toWellFormed().replace(EMOJI_OR_HIDDEN, (character: string, emoji: string | undefined) => {
    return emoji ?? `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });

/** Untrusted text for one line of `plain_text`: what cannot be seen is named, e.g. `⟨U+202E⟩`. Never empty. */
export function visibleLine(text: string): string {
  const shown = visible(text);
  return shown.trim() === "" ? "⟨blank⟩" : shown;
}

/** The same over lines, each behind a bar when there are several, so that no line can pose as a part of the card. */
export function visibleLines(text: string): string {
  const lines = text.split(/\r?\n/);
  return lines.length === 1 ? visibleLine(text) : lines.map((line) => `│ ${visible(line)}`).join("\n");
}
