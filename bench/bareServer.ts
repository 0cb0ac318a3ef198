import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "./serve.ts";

export interface BareSettings {
  readonly signingSecret: string;
}

/** What no receiver can do without: read the body, check the signature, parse. It keeps nothing. */
await serve<BareSettings>(async ({ signingSecret }) => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const hmac = createHmac("sha256", signingSecret).update(`v0:${request.headers["x-slack-request-timestamp"]}:`);
      const expected = Buffer.from(`v0=${hmac.update(body).digest("hex")}`);
      const given = Buffer.from(String(request.headers["x-slack-signature"]));
      const signed = given.length === expected.length && timingSafeEqual(given, expected);
      response.statusCode = signed && JSON.parse(body.toString()).type === "event_callback" ? 200 : 401;
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`,
    close: async () => server.close(),
  };
});
