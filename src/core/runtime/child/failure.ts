import { RUNTIME_LIMITS } from "../limits.ts";

const INDESCRIBABLE = "It failed with something that cannot be described.";

/**
 * What the model and people may read of anything thrown: its message, and the code of the cause where the message
 * is as bare as `fetch failed`. No stack; at most 2,000 characters; well-formed. Total: getters may throw too.
 */
export function messageOf(thrown: unknown, hiddenFolder?: string): string {
  try {
    const text = describe(thrown);
    // Cut before anything walks over it: a message may be as large as memory.
    const short = [...text.slice(0, RUNTIME_LIMITS.messageLength * 2)].slice(0, RUNTIME_LIMITS.messageLength).join("");
    const wellFormed = short.replace(/\p{Surrogate}/gu, "\ufffd");
    return hiddenFolder
      ? wellFormed.replaceAll(`file://${hiddenFolder}/`, "").replaceAll(`${hiddenFolder}/`, "")
      : wellFormed;
  } catch {
    return INDESCRIBABLE;
  }
}

function describe(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null) return String(thrown) || INDESCRIBABLE;
  const { message, name, cause } = thrown as { message?: unknown; name?: unknown; cause?: { code?: unknown } | null };
  const said = typeof message === "string" && message !== "" ? message : typeof name === "string" ? name : "";
  const code = typeof cause === "object" && typeof cause?.code === "string" ? ` (${cause.code})` : "";
  return said === "" ? INDESCRIBABLE : said + code;
}

const KIND = Symbol.for("countersign.kind");

/** Did `apply` vouch that nothing was written? By mark, or by name where a project brought its own class. */
export function saysNotApplied(thrown: unknown): boolean {
  try {
    if (typeof thrown !== "object" || thrown === null) return false;
    const { name, [KIND]: kind } = thrown as { name?: unknown; [KIND]?: unknown };
    return kind === "not-applied" || name === "NotApplied";
  } catch {
    return false;
  }
}
