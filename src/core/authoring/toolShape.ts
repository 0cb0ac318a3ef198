/**
 * The rules of a tool's declaration (T1, T2, T6) as sentences, so that `defineTool` and the build refuse the same
 * things in the same words. Each function returns what is wrong and what to write instead, or null.
 */
export interface ShapeProblem {
  readonly what: string;
  readonly instead: string;
}

/** Ids of the platform's own tools; no project may take one. */
export const RESERVED_TOOL_IDS = [
  "ask",
  "sandbox_exec",
  "shell",
  "read",
  "write",
  "glob",
  "grep",
  "web-search",
] as const;

/** The shortest limit among the model providers; a longer name would fail every turn instead of the build. */
const MAX_NAME = 64;

export function nameProblem(name: unknown): ShapeProblem | null {
  if (typeof name !== "string" || name === "") {
    return { what: "the tool has no name", instead: 'give it one such as name: "lookup_order"' };
  }
  if (!/^[A-Za-z0-9_-]+$/.test(name)) {
    return {
      what: `the tool name ${JSON.stringify(name)} has other characters than letters, digits, _ and -`,
      instead: "use only those",
    };
  }
  if (name.length > MAX_NAME) {
    return { what: `the tool name "${name}" is longer than ${MAX_NAME} characters`, instead: "shorten it" };
  }
  if ((RESERVED_TOOL_IDS as readonly string[]).includes(name)) {
    return {
      what: `"${name}" is the id of a built-in tool`,
      instead: `choose another name, or select the built-in with useTool("${name}")`,
    };
  }
  return null;
}

export function descriptionProblem(description: unknown): ShapeProblem | null {
  if (typeof description === "string" && description.trim() !== "") return null;
  return {
    what: "the tool has no description",
    instead: "say what it does and when to use it; it is all the model knows about it",
  };
}

export function schemaProblem(field: "input" | "output", schema: unknown): ShapeProblem | null {
  if (schema === undefined || (typeof schema === "object" && schema !== null && !Array.isArray(schema))) return null;
  return { what: `${field} is not a JSON Schema object`, instead: `write ${field}: { type: "object", … }` };
}

/** Which of the four functions a tool has. */
export interface Entries {
  readonly run: boolean;
  readonly preview: boolean;
  readonly apply: boolean;
  readonly verify: boolean;
}

export function entriesProblem({ run, preview, apply, verify }: Entries): ShapeProblem | null {
  const either = "keep run for a tool that acts at once, or preview and apply for one that waits for a person";
  if (run && preview && apply) return { what: "the tool has run beside preview and apply", instead: either };
  if (run && preview) return { what: "the tool has run beside preview", instead: either };
  if (run && apply) return { what: "the tool has run beside apply", instead: either };
  if (preview && !apply) {
    return { what: "the tool has preview without apply", instead: "add apply, which writes once somebody approved" };
  }
  if (apply && !preview) {
    return { what: "the tool has apply without preview", instead: "add preview, which shows what would be written" };
  }
  if (!run && !apply) {
    return { what: "the tool has neither run nor preview and apply", instead: "give it run, or both others" };
  }
  if (verify && !apply) {
    return { what: "the tool has verify without apply", instead: "remove verify: only an approved write is verified" };
  }
  return null;
}

export function resultProblem(result: unknown, hasOutput: boolean, entries: Entries): ShapeProblem | null {
  if (result === undefined || result === false) return null;
  if (result !== true)
    return { what: "result is neither true nor false", instead: "write result: true, or leave it out" };
  if (!entries.run) {
    return { what: "a result tool waits for a person", instead: "give it run instead of preview and apply" };
  }
  if (!hasOutput) {
    return { what: "a result tool has no output", instead: "add output: the JSON Schema its value is checked against" };
  }
  return null;
}
