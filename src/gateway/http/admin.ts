import type { Core } from "../../core/flow/core.ts";
import type { JobQueue, Log } from "../../core/ports.ts";
import { listStuck } from "../../core/store/stuck.ts";
import { createReadiness, type DependencyCheck } from "./readiness.ts";
import { createServer, type HttpServer } from "./server.ts";

export interface AdminAppDeps {
  readonly core: Pick<Core, "pool">;
  readonly queue: Pick<JobQueue, "counts">;
  readonly checks: readonly DependencyCheck[];
  readonly log: Log;
}

/** The sweeper comes every few seconds: what waits longer than this is not on its way. */
const STUCK_AFTER_MS = 30_000;
const STUCK_ROWS = 100;

/** The admin port: what probes and operators read. It asks for no key, so it binds to loopback unless told otherwise. */
export function createAdminApp({ core, queue, checks, log }: AdminAppDeps): HttpServer {
  const app = createServer(log);
  const readiness = createReadiness(checks, log);

  // That it answers at all is the answer: the event loop runs.
  app.get("/health/live", async () => ({ status: "live" }));

  app.get("/health/ready", async (_request, reply) => {
    const { ready, dependencies } = await readiness();
    return reply.code(ready ? 200 : 503).send({ status: ready ? "ready" : "not_ready", dependencies });
  });

  app.get("/admin/queues", async () => ({ queues: await queue.counts() }));

  app.get("/admin/stuck", () => listStuck(core.pool, STUCK_AFTER_MS, STUCK_ROWS));

  return app;
}
