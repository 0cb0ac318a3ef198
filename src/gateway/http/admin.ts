import type { Core } from "../../core/flow/core.ts";
import type { JobQueue, Log } from "../../core/ports.ts";
import { readRecordEnd } from "../../core/store/record.ts";
import { listStuck } from "../../core/store/stuck.ts";
import { createMetrics } from "./metrics.ts";
import { type ReadinessProbe, takesTraffic } from "./readiness.ts";
import { createServer, type HttpServer } from "./server.ts";

export interface AdminAppDeps {
  readonly core: Pick<Core, "pool">;
  readonly queue: Pick<JobQueue, "counts">;
  readonly readiness: Pick<ReadinessProbe, "read">;
  /** Since this worker last swept. Null: this process does not sweep. */
  readonly sweepAgeMs: (() => number) | null;
  readonly log: Log;
}

/** The sweeper comes every few seconds: what waits longer than this is not on its way. */
const STUCK_AFTER_MS = 30_000;
const STUCK_ROWS = 100;

/** The admin port: what probes and operators read. It asks for no key, so it binds to loopback unless told otherwise. */
export function createAdminApp({ core, queue, readiness, sweepAgeMs, log }: AdminAppDeps): HttpServer {
  const app = createServer(log);
  const metrics = createMetrics({ pool: core.pool, queue, readiness, sweepAgeMs, log });

  // That it answers at all is the answer: the event loop runs.
  app.get("/health/live", async () => ({ status: "live" }));

  app.get("/health/ready", async (_request, reply) => {
    const now = await readiness.read();
    return reply.code(takesTraffic(now.status) ? 200 : 503).send(now);
  });

  app.get("/metrics", async (_request, reply) => reply.type(metrics.contentType).send(await metrics.scrape()));

  // The end of the decision record: whoever notes it elsewhere can hold every later export to it.
  app.get("/admin", async () => {
    const { head, signed } = await readRecordEnd(core.pool);
    return { record: { ...head, signed }, see: ["/admin/queues", "/admin/stuck", "/metrics", "/health/ready"] };
  });

  app.get("/admin/queues", async () => ({ queues: await queue.counts() }));

  app.get("/admin/stuck", () => listStuck(core.pool, STUCK_AFTER_MS, STUCK_ROWS));

  return app;
}
