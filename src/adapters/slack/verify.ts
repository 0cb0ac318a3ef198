import { createHmac, timingSafeEqual } from "node:crypto";

/** Slack's own window, here in both directions: Bolt's check lets a signature of tomorrow pass (G1). */
const WINDOW_S = 300;

export interface SignedRequest {
  /** The body as it came, before anything parsed it. */
  readonly body: Buffer;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

/** Whether any active secret signed exactly these bytes within five minutes of `nowMs`. */
export function isSigned(
  { body, timestamp, signature }: SignedRequest,
  secrets: readonly string[],
  nowMs: number,
): boolean {
  if (timestamp === undefined || signature === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) > WINDOW_S) return false;
  const given = Buffer.from(signature);
  return secrets.some((secret) => {
    const expected = Buffer.from(slackSignature(secret, timestamp, body));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** `v0=` and the HMAC-SHA256, in hex, over `v0:timestamp:body`. */
export const slackSignature = (secret: string, timestamp: string, body: Buffer | string): string =>
  `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex")}`;
