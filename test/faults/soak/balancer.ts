import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

/** One address for several gateways, each connection to the next one that takes it, as a load balancer does. */
export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/** `ports`: where gateways listen now. */
export async function startBalancer(ports: () => readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let next = 0;

  function forward(client: Socket, left: readonly number[]): void {
    const [port, ...others] = left;
    if (port === undefined) return void client.destroy();
    const upstream = connect(port, "127.0.0.1");
    upstream.once("error", () =>
      upstream.connecting || client.bytesRead === 0 ? forward(client, others) : client.destroy(),
    );
    upstream.once("connect", () => {
      open.add(upstream);
      client.pipe(upstream).pipe(client);
      upstream.on("error", () => client.destroy());
      client.on("error", () => upstream.destroy());
      upstream.on("close", () => {
        open.delete(upstream);
        client.destroy();
      });
      client.on("close", () => upstream.destroy());
    });
  }

  const server = createServer((client) => {
    open.add(client);
    client.on("error", () => {}).on("close", () => open.delete(client));
    const all = ports();
    const first = all.length === 0 ? 0 : next++ % all.length;
    forward(client, [...all.slice(first), ...all.slice(0, first)]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
