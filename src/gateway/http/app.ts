import type { FastifyPluginAsync } from "fastify";
import type { Core } from "../../core/flow/core.ts";
import type { Log } from "../../core/ports.ts";
import { requireApiKey } from "./auth.ts";
import { decisions } from "./decisions.ts";
import { events } from "./events.ts";
import { createFollowers, DEFAULT_FOLLOW_LIMITS, type FollowLimits } from "./follow.ts";
import { ALIAS_PATH, BASE_PATH, serveOpenApi } from "./openapi.ts";
import { results } from "./results.ts";
import type { RouteDeps } from "./routes.ts";
import { createServer, type HttpServer } from "./server.ts";
import { sessionControl } from "./sessionControl.ts";
import { sessions } from "./sessions.ts";
import { turns } from "./turns.ts";

export interface ApiAppDeps {
  readonly core: Core;
  /** Rings after a flow has committed; never rejects. */
  readonly ring: RouteDeps["ring"];
  readonly apiKey: string;
  readonly log: Log;
  /** Mounted at the root, each in a scope of its own: what chat platforms call. They bring their own authentication. */
  readonly plugins?: readonly FastifyPluginAsync[];
  /** Called when somebody asked a running turn to stop; `leases.beat` in a process that has workers. Never throws. */
  readonly nudge?: () => void;
  readonly follow?: Partial<FollowLimits>;
}

const GROUPS = [sessions, turns, sessionControl, events, results, decisions];

/** The public port: the API under its two base paths, its description, and the plugins. */
export async function createApiApp(deps: ApiAppDeps): Promise<HttpServer> {
  const { core, ring, apiKey, log, plugins = [], nudge = () => {} } = deps;
  const app = createServer(log);
  const followers = createFollowers(log, { ...DEFAULT_FOLLOW_LIMITS, ...deps.follow });
  app.addHook("preClose", async () => followers.close());

  await serveOpenApi(app);
  for (const prefix of [BASE_PATH, ALIAS_PATH]) {
    await app.register(
      async (api) => {
        api.addHook("onRequest", requireApiKey(apiKey));
        for (const group of GROUPS) await api.register(group({ core, ring, nudge, followers }));
      },
      { prefix },
    );
  }
  for (const plugin of plugins) await app.register(plugin);
  return app;
}
