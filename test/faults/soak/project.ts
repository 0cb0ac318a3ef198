import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * An agent whose one write goes to the effect ledger, with the arguments as its body, byte for byte, and the decision's
 * id as its key. `ask` is not offered, so the demo model proposes at once.
 */
const files = (origin: string): Readonly<Record<string, string>> => ({
  "project.ts": `export default {
  name: "soak",
  agents: ["support"],
  approvals: { tools: { attach: { applyTimeout: "6s" } } },
};
`,
  "agents/support/agent.ts": `import { useModel, useTool } from "@opencomputer/agent";
import { attach } from "./tools/attach.ts";

export default function Support() {
  useModel("anthropic/claude-sonnet-4.6");
  useTool(attach);
  return "Change plans when asked to.";
}
`,
  "agents/support/connections/ledger.ts": `import { defineConnection } from "@opencomputer/agent";

export const ledger = defineConnection({ id: "ledger", origin: "${origin}", methods: ["GET", "POST"] });
`,
  "agents/support/tools/attach.ts": `import { defineTool } from "@opencomputer/agent";
import { ledger } from "../connections/ledger.ts";

export const attach = defineTool({
  name: "attach",
  description: "Move a customer onto a plan",
  input: {
    type: "object",
    properties: { customerId: { type: "string" }, planId: { type: "string" } },
    required: ["customerId", "planId"],
  },
  preview: ({ input }) => ({ title: \`Move \${input.customerId} to \${input.planId}\` }),
  async apply({ input, decision, signal }) {
    const headers = { "content-type": "application/json", "idempotency-key": decision.id };
    const response = await ledger.fetch("/effects", { method: "POST", headers, body: JSON.stringify(input), signal });
    if (!response.ok) throw new Error(\`The ledger answered \${response.status}\`);
    return response.json();
  },
  async verify({ decision, signal }) {
    const response = await ledger.fetch("/effects", { headers: { "idempotency-key": decision.id }, signal });
    return { applied: response.ok ? true : response.status === 404 ? false : "unknown" };
  },
});
`,
});

/** Writes the project; `dir` is for `--project`. */
export async function writeSoakProject(dir: string, ledgerUrl: string): Promise<void> {
  for (const [file, content] of Object.entries(files(ledgerUrl))) {
    const path = join(dir, "opencomputer", file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}
