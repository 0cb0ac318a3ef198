import { readFileSync } from "node:fs";
import { join } from "node:path";
import swagger, { type FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { Type } from "@sinclair/typebox";
import { packageRoot } from "../../core/packageRoot.ts";
import type { HttpServer } from "./server.ts";

export const BASE_PATH = "/api";
/** The same routes again, under the path that clients of the hosted platform use. */
export const ALIAS_PATH = "/api/managed-agents";

/** Collects the routes registered after it; `GET /api/openapi.json` answers with them. It needs no key and tells none. */
export async function serveOpenApi(app: HttpServer): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { version: string };
  await app.register(swagger, documentOf(version));
  app.get(`${BASE_PATH}/openapi.json`, { schema: SELF }, async () => app.swagger());
}

const SELF = {
  operationId: "getOpenApi",
  summary: "This document",
  tags: ["openapi"],
  security: [],
  response: { 200: Type.Object({}, { additionalProperties: true, description: "OpenAPI 3.1." }) },
};

const documentOf = (version: string): FastifyDynamicSwaggerOptions => ({
  openapi: {
    openapi: "3.1.0",
    info: { title: "Countersign", version, description: "Sessions, turns and approvals of a Countersign gateway." },
    servers: [{ url: BASE_PATH }, { url: ALIAS_PATH, description: "The same routes." }],
    components: { securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "x-api-key" } } },
    security: [{ apiKey: [] }],
  },
  /** Paths stand under the servers above, once; what chat platforms call is no part of the API. */
  transform: ({ schema, url }) => ({
    schema: url.startsWith(`${BASE_PATH}/`) && !url.startsWith(ALIAS_PATH) ? schema : { ...schema, hide: true },
    url,
  }),
});
