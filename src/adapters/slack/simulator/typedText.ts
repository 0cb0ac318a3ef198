import type { JsonObject } from "./message.ts";
import type { Member, Team } from "./workspace.ts";

/** What Slack's composer makes out of a choice in its menus: it arrives as a token, never as typed characters. */
const TOKEN = /<(?:@[UW][A-Z0-9]+|#C[A-Z0-9]+|!(?:here|channel|everyone)|https?:\/\/[^<>]+)>/g;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * A message's `text` as Slack sends it, made from what a person typed: `&`, `<` and `>` are escaped, tokens such as
 * `<@U1>` stay, and `@name` becomes the token of that person or of the bot.
 */
export function typedText(typed: string, team: Team, members: readonly Member[]): string {
  const named = [...members, { id: team.botUserId, name: team.botName }].reduce(
    (text, { id, name }) => text.replace(new RegExp(`(^|\\s)@${name}(?![\\w-])`, "gi"), `$1<@${id}>`),
    typed,
  );
  return splitTokens(named)
    .map((part) => (part.token ? part.text : escaped(part.text)))
    .join("");
}

/** The `rich_text` block that Slack's clients put beside the text of everything people write. */
export function richText(typed: string, blockId: string): JsonObject {
  const elements = splitTokens(typed).map(({ token, text }): JsonObject => {
    if (token && text.startsWith("<@")) return { type: "user", user_id: text.slice(2, -1) };
    return { type: "text", text: text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&") };
  });
  return { type: "rich_text", block_id: blockId, elements: [{ type: "rich_text_section", elements }] };
}

function splitTokens(text: string): { readonly token: boolean; readonly text: string }[] {
  const parts: { token: boolean; text: string }[] = [];
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > from) parts.push({ token: false, text: text.slice(from, match.index) });
    parts.push({ token: true, text: match[0] });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push({ token: false, text: text.slice(from) });
  return parts;
}
