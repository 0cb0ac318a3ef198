import { join } from "node:path";
import { buildProject } from "../src/core/build/buildProject.ts";
import { loadConfig } from "../src/core/config.ts";
import { packageRoot } from "../src/core/packageRoot.ts";
import { startGateway } from "../src/gateway/compose.ts";
import { loadOrCreateKeys } from "../src/gateway/keys.ts";
import { createLog } from "../src/gateway/log.ts";
import { serve } from "./serve.ts";

export interface GatewaySettings {
  /** `all` also runs the turns. */
  readonly role: "all" | "gateway";
  readonly dataDir: string;
  /** Variables of the environment, as an operator sets them. */
  readonly env: Readonly<Record<string, string>>;
}

/** Countersign as `start` composes it, with the demo model and the example's agent. */
await serve<GatewaySettings>(async ({ role, dataDir, env }) => {
  const config = loadConfig({
    env: { LOG_LEVEL: "fatal", ...env },
    flags: { role, data: dataDir, port: "0", adminPort: "0" },
  });
  const gateway = await startGateway({
    config,
    keys: await loadOrCreateKeys(config),
    log: createLog(config.logLevel),
    environment: {},
    serve: async () => ({
      deployment: await buildProject({ dir: join(packageRoot(), "examples/support"), allowLoopback: true }),
      folder: null,
      values: {},
    }),
  });
  return { url: `${gateway.url}/slack/events`, close: gateway.close };
});
