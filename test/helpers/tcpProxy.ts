import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy in front of one server, to take its network away. */
export interface TcpProxy {
  readonly port: number;
  /** Connections stay open and nothing passes any more. */
  freeze(): void;
  /** Connections are reset and none is accepted. */
  cut(): Promise<void>;
  /** Accepts again, on the same port. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

export async function createTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((client) => {
    const upstream = connect(target);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => frozen || to.write(bytes));
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy got no port.");

  const cut = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  return {
    port: address.port,
    freeze: () => {
      frozen = true;
    },
    cut,
    mend: async () => {
      server.listen(address.port, "127.0.0.1");
      await once(server, "listening");
    },
    close: cut,
  };
}
