import { createContext, Script } from "node:vm";

/**
 * A `pattern` of a schema is the author's and what it is tried on is the model's: `^(a+)+$` on thirty letters would
 * stop the whole process for minutes. Longer than any sane match on any input takes, shorter than a lease.
 */
const MATCH_WITHIN_MS = 250;

const MATCH = new Script("pattern.test(text)");

/** `RegExp.test` that gives up. For ajv's `code.regExp`; throws when the time is over. */
export const boundedPattern = Object.assign(
  (source: string, flags: string) => {
    const box = createContext({ pattern: new RegExp(source, flags), text: "" });
    return {
      test(text: string): boolean {
        box["text"] = text;
        return MATCH.runInContext(box, { timeout: MATCH_WITHIN_MS }) as boolean;
      },
    };
  },
  // What ajv would write into code generated ahead of time, which is not done here.
  { code: "boundedPattern" },
);
