import { cutPoint, escapedFit } from "./cut.ts";
import { LIMITS } from "./limits.ts";
import { stepFence } from "./mrkdwn.ts";
import { escapedLength } from "./text.ts";

/** What closing and reopening a fence may add to a part: two runs of 16 and their line breaks. */
const FENCE_ROOM = 34;

/**
 * A long Markdown answer as texts that fit one message each, in order. Cut between paragraphs where possible, else
 * lines, else words, else graphemes; a code fence open at the cut is closed there and opened again in the next part.
 * Nothing is dropped but the white space at a cut, inside code the line break alone. Measured after escaping, since
 * that is what is sent.
 */
export function splitForSlack(markdown: string, limit: number = LIMITS.text): string[] {
  const parts: string[] = [];
  let rest = markdown;
  let fence: string | null = null;
  while (escapedLength(rest) + (fence === null ? 0 : FENCE_ROOM) > limit) {
    const end = breakPlace(rest, escapedFit(rest, limit - FENCE_ROOM));
    const chunk = rest.slice(0, end);
    const opened = fence === null ? chunk : `${fence}\n${chunk}`;
    for (const line of chunk.split("\n")) fence = stepFence(fence, line);
    parts.push(fence === null ? opened : `${opened}\n${fence}`);
    rest = rest.slice(end).replace(fence === null ? /^(?:\n+| )/ : /^\n/, "");
  }
  parts.push(fence === null ? rest : `${fence}\n${rest}`);
  const spoken = parts.filter((part) => part.trim() !== "");
  return spoken.length > 0 ? spoken : [markdown.slice(0, 1)];
}

/** Where a part of at most `max` units ends. A break in the first third would make many short posts of one paragraph. */
function breakPlace(text: string, max: number): number {
  const head = text.slice(0, max + 1);
  for (const separator of ["\n\n", "\n", " "]) {
    const at = head.lastIndexOf(separator);
    if (at > max / 3) return at;
  }
  return cutPoint(text, Math.max(1, max));
}
