import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  readonly method: string;
  readonly args: Readonly<Record<string, string>>;
}

export type Answer = (response: ServerResponse, asked: Asked, request: IncomingMessage) => void;

export const json =
  (body: object, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };

/** A Web API of one test: counts what arrives and answers as the test says. */
export async function createFakeSlack() {
  const asked: Asked[] = [];
  let answer: Answer = json({ ok: true, ts: "1700000001.000100", channel: "C1" });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const args = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString("utf8")));
      const one = { method: (request.url ?? "").replace(/^\/api\//, ""), args };
      asked.push(one);
      answer(response, one, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api/`,
    asked,
    answers(next: Answer) {
      answer = next;
      asked.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
