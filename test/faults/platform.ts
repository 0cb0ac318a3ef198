import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Outgoing, SendResult } from "../../src/core/ports.ts";
import type { Posted } from "./history.ts";

/**
 * The chat of every run, in the harness's process. Like Slack it has no key of its own: what is sent twice stands
 * twice, and only a look at the thread finds what was sent before.
 */
export interface Platform {
  readonly url: string;
  /** What the run's thread holds, in the order it was posted. */
  chat(run: string): readonly Posted[];
  forget(run: string): void;
  close(): Promise<void>;
}

export async function startPlatform(): Promise<Platform> {
  const threads = new Map<string, Posted[]>();

  function send(run: string, { deliveryId, message, editRef }: Outgoing): SendResult {
    const thread = threads.get(run) ?? [];
    threads.set(run, thread);
    const at = thread.findIndex((posted) => posted.ref === editRef);
    const before = thread[at];
    if (editRef !== undefined) {
      if (!before) return { outcome: "dead", code: "message_not_found" };
      thread[at] = { ...before, message };
      return { outcome: "sent", ref: editRef };
    }
    const ref = `C1:${run}.${thread.length + 1}`;
    thread.push({ ref, deliveryId, message });
    return { outcome: "sent", ref };
  }

  function find(run: string, { deliveryId }: Outgoing) {
    const posted = threads.get(run)?.find((one) => one.deliveryId === deliveryId);
    return posted ? { found: true, ref: posted.ref } : { found: false };
  }

  const server = createServer(async (request, response) => {
    const [, run = "", method] = (request.url ?? "").split("/");
    const outgoing = JSON.parse(await read(request)) as Outgoing;
    response.end(JSON.stringify(method === "send" ? send(run, outgoing) : find(run, outgoing)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    chat: (run) => threads.get(run) ?? [],
    forget: (run) => void threads.delete(run),
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
