import { escapeText } from "./text.ts";

/**
 * Markdown as models write it, to Slack's own mrkdwn. Chosen over the `markdown` block because here every `<` is
 * escaped by us: what a model repeats from a stranger can neither ping nor hide a link. The result is never longer than
 * the escaped source, so that a text may be measured before it is converted.
 */
export function toMrkdwn(markdown: string): string {
  let fence: string | null = null;
  const lines = markdown.split("\n").map((line) => {
    const next = stepFence(fence, line);
    const inside = fence !== null;
    const crosses = inside !== (next !== null);
    fence = next;
    if (crosses) return "```";
    return inside ? escapeText(line) : block(line);
  });
  return lines.join("\n");
}

/** The fence that is open after `line`, as its run of backticks or tildes; null outside code. */
export function stepFence(open: string | null, line: string): string | null {
  const [, run, info] = /^ {0,3}(`{3,16}|~{3,16})(?![`~])(.*)$/.exec(line) ?? [];
  if (run === undefined || info === undefined) return open;
  if (open === null) return run.startsWith("`") && info.includes("`") ? null : run;
  return run[0] === open[0] && run.length >= open.length && info.trim() === "" ? null : open;
}

function block(line: string): string {
  const [, heading] = /^ {0,3}#{1,6} +(.*?)(?: +#+)? *$/.exec(line) ?? [];
  if (heading) return `*${inline(heading).replaceAll("*", "")}*`;
  const [, indent, item] = /^( *)[-*+] +(.*)$/.exec(line) ?? [];
  if (indent !== undefined && item !== undefined && !/^[-*_ ]*$/.test(item)) return `${indent}• ${inline(item)}`;
  const [, quoted] = /^> ?(.*)$/.exec(line) ?? [];
  return quoted === undefined ? inline(line) : `> ${inline(quoted)}`.trimEnd();
}

const URL_CHARACTERS = String.raw`(?:https?:\/\/|mailto:)[^\s<>|()"]+`;

const INLINE = new RegExp(
  [
    "(?<code>`[^`]+`)",
    String.raw`!?\[(?<label>[^\[\]]+)\]\((?<href>${URL_CHARACTERS})\)`,
    `<(?<auto>${URL_CHARACTERS})>`,
    String.raw`\*\*(?<bold>[^\s*](?:[^*]*[^\s*])?)\*\*`,
    String.raw`(?<![\w*])\*(?<italic>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])`,
    "~~(?<struck>[^~]+)~~",
  ].join("|"),
  "g",
);

/** `mark` of the text that stands around keeps a nested link or code working: only the markers change. */
function inline(text: string): string {
  let out = "";
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    out += escapeText(text.slice(from, match.index)) + converted(match[0], match.groups ?? {});
    from = match.index + match[0].length;
  }
  return out + escapeText(text.slice(from));
}

function converted(source: string, groups: Record<string, string | undefined>): string {
  const { label, href, auto, bold, italic, struck } = groups;
  if (label !== undefined && href !== undefined)
    return `<${escapeText(href)}|${escapeText(label).replaceAll("|", "/")}>`;
  if (auto !== undefined) return `<${escapeText(auto)}>`;
  if (bold !== undefined) return `*${inline(bold)}*`;
  if (italic !== undefined) return `_${inline(italic)}_`;
  if (struck !== undefined) return `~${inline(struck)}~`;
  return escapeText(source);
}
