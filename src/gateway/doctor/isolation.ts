import type { Config } from "../../core/config.ts";
import { detectIsolation, type Isolation } from "../../core/runtime/isolation.ts";
import { type Finding, findingsAbout } from "./finding.ts";

const agents = findingsAbout("isolation");

export async function checkIsolation({
  runtime,
  production,
}: Pick<Config, "runtime" | "production">): Promise<Finding> {
  if (runtime === "process")
    return agents.warning(
      "COUNTERSIGN_RUNTIME=process: agents run without namespaces of their own; unset it where namespaces can be had.",
    );
  return judgeIsolation(await detectIsolation(), production);
}

/** C1: production does not start without. */
export function judgeIsolation({ kind, reason }: Isolation, production: boolean): Finding {
  if (kind !== "none") return agents.ok(`Agents run in namespaces of their own (${kind}).`);
  const says = `This host refuses namespaces to agents (${reason}); allow user namespaces, or set COUNTERSIGN_RUNTIME=process to go on without.`;
  return production ? agents.problem(says) : agents.warning(says);
}
