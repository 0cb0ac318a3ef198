import { createHash, timingSafeEqual } from "node:crypto";
import type { onRequestAsyncHookHandler } from "fastify";
import { CountersignError } from "../../core/domain/errors.ts";

/**
 * Refuses a request without the API key before its body is read. Digests are compared, so that neither the key's
 * length nor how much of it was right shows in the time it takes.
 */
export function requireApiKey(apiKey: string): onRequestAsyncHookHandler {
  const expected = sha256(apiKey);
  return async (request) => {
    const sent = request.headers["x-api-key"];
    if (typeof sent !== "string" || !timingSafeEqual(sha256(sent), expected))
      throw new CountersignError("unauthorized");
  };
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
