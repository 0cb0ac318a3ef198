import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createBillingServer } from "../../examples/support/billing/server.ts";
import { CountersignError } from "../core/domain/errors.ts";

/** The port its billing connection names; connections are static. */
const BILLING_PORT = 4010;

/** What its connections need and `startExample` brings: nobody has to set them. */
export const EXAMPLE_SECRETS = ["BILLING_API_KEY"] as const;

export interface Example {
  /** Its billing server. */
  readonly url: string;
  /** What its connections need. */
  readonly values: Readonly<Record<string, string>>;
  /** Changes written so far, repeats of one key counted once. */
  writes(): number;
  stop(): Promise<void>;
}

/** Runs the billing server of examples/support beside the gateway. `port` 0: a free one, for a build that overrides the origin. */
export async function startExample(dataDir: string, port: number = BILLING_PORT): Promise<Example> {
  const key = await keptKey(join(dataDir, "example-billing-key"));
  const billing = createBillingServer({ key });
  try {
    await (port === 0 ? billing.start() : billing.start(port));
  } catch (cause) {
    throw new CountersignError(
      "port_in_use",
      `Port ${port}, where the example's billing server listens, is taken; stop what uses it, or serve a project of yours with --project DIR.`,
      { cause },
    );
  }
  return {
    url: billing.url,
    values: { BILLING_API_KEY: key },
    writes: () => billing.writes(),
    stop: () => billing.stop(),
  };
}

async function keptKey(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    const key = randomBytes(24).toString("base64url");
    await writeFile(file, key, { mode: 0o600 });
    return key;
  }
}
