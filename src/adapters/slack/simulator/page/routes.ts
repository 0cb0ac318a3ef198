import type { FastifyInstance } from "fastify";
import { PAGE } from "./html.ts";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** `GET /` for people, and the guard of everything that a browser may do here. */
export function pageRoutes(app: FastifyInstance, host: string): void {
  const local = LOOPBACK.has(host) || host === "::1";

  // A web site that lets its own name resolve to 127.0.0.1 would otherwise speak for Ada from the visitor's browser.
  app.addHook("onRequest", async ({ headers }, reply) => {
    const name = (headers.host ?? "").replace(/:\d+$/, "");
    if (local && !LOOPBACK.has(name)) {
      return reply
        .code(403)
        .send({ error: { code: "forbidden_host", message: `${name} is not this simulator's name` } });
    }
  });

  app.get("/", (_request, reply) =>
    reply
      .header(
        "content-security-policy",
        "default-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      )
      .type("text/html; charset=utf-8")
      .send(PAGE),
  );
  app.get("/simulator/page.css", (_request, reply) => reply.type("text/css; charset=utf-8").send(STYLE));
  app.get("/simulator/page.js", (_request, reply) => reply.type("text/javascript; charset=utf-8").send(SCRIPT));
}
