import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy in front of one server, to take its network away. */
export interface TcpProxy {
  readonly port: number;
  /** Connections stay open and nothing passes any more, on new ones neither. */
  freeze(): void;
  /** What is sent is kept on its way, until `letGo`. */
  hold(): void;
  letGo(): void;
  /** Connections that were opened while held. */
  waiting(): number;
  /** Connections are reset and none is accepted. */
  cut(): Promise<void>;
  /**
   * Resets the connection over which the next such bytes are sent: before the server gets them, or after it has
   * answered them and before the client gets the answer. Resolves when it did.
   */
  cutAt(sent: string, when: "before" | "after"): Promise<void>;
  /** New connections pass again, on the same port; those that were frozen stay silent. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

interface Trap {
  readonly sent: string;
  readonly when: "before" | "after";
  readonly sprung: () => void;
}

export async function createTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  let held = false;
  let waiting = 0;
  let trap: Trap | null = null;

  const server = createServer((client) => {
    const upstream = connect(target);
    let silent = frozen;
    if (held) waiting++;
    let springing: Trap | null = null;
    const reset = ({ sprung }: Trap) => {
      client.resetAndDestroy();
      sprung();
    };
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      if (held) from.pause();
      from.on("data", (bytes) => {
        silent ||= frozen;
        if (silent) return;
        if (from === upstream && springing) return reset(springing);
        if (from === client && trap && bytes.includes(trap.sent)) {
          springing = trap;
          trap = null;
          if (springing.when === "before") return reset(springing);
        }
        to.write(bytes);
      });
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
    hold: () => {
      held = true;
      for (const socket of sockets) socket.pause();
    },
    letGo: () => {
      held = false;
      waiting = 0;
      for (const socket of sockets) socket.resume();
    },
    waiting: () => waiting,
    cut,
    cutAt: (sent, when) =>
      new Promise((sprung) => {
        trap = { sent, when, sprung };
      }),
    mend: async () => {
      frozen = false;
      if (server.listening) return;
      server.listen(address.port, "127.0.0.1");
      await once(server, "listening");
    },
    close: cut,
  };
}
