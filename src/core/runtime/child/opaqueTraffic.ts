import childProcess from "node:child_process";
import dgram from "node:dgram";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";
import workerThreads from "node:worker_threads";
import type { Attempt, Attribution } from "./traffic.ts";

export interface OpaqueWatch {
  /** This socket carries HTTP requests only, which are counted one by one. */
  claim(socket: Socket): void;
  /** Begins an attempt; returns what adds to it the raw sockets that sent something since, and ends it. */
  begin(attempt: Attempt): () => void;
}

/**
 * Sees what cannot be judged: bytes on raw sockets (databases, HTTP/2, SMTP), datagrams, processes and threads. A
 * socket may be older than the attempt, a connection pool's for one, so bytes are compared, not openings counted.
 * Must be installed before the bundle is imported: its imports get what stands here.
 */
export function watchOpaque(attribution: Attribution): OpaqueWatch {
  const claimed = new WeakSet<Socket>();
  const raw = new Set<Socket>();
  const open = new Set<(socket: Socket) => void>();
  const happened = () => {
    for (const attempt of attribution.current()) attempt.opaque();
  };

  before(Socket.prototype, "connect", (socket: Socket) => {
    // Not earlier: what was written to a socket that never connected counts in bytesWritten, too.
    socket.once("connect", () => claimed.has(socket) || raw.add(socket));
    socket.once("close", () => {
      if (raw.delete(socket)) for (const count of open) count(socket);
    });
  });
  before(dgram.Socket.prototype, "send", happened);
  // spawn, exec, execFile and fork all end here; their synchronous kin do not.
  before(childProcess.ChildProcess.prototype, "spawn", happened);
  for (const name of ["spawnSync", "execSync", "execFileSync"]) before(childProcess, name, happened);
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(...args: ConstructorParameters<typeof workerThreads.Worker>) {
      happened();
      super(...args);
    }
  };
  syncBuiltinESMExports();

  return {
    claim(socket) {
      claimed.add(socket);
      raw.delete(socket);
    },
    begin(attempt) {
      const before = new Map([...raw].map((socket) => [socket, socket.bytesWritten]));
      const count = (socket: Socket) => {
        if (socket.bytesWritten > (before.get(socket) ?? 0)) attempt.opaque();
      };
      open.add(count);
      return () => {
        open.delete(count);
        raw.forEach(count);
      };
    },
  };
}

function before<Self>(target: object, name: string, act: (self: Self) => void): void {
  const original: (...args: unknown[]) => unknown = Reflect.get(target, name);
  Reflect.set(target, name, function (this: Self, ...args: unknown[]) {
    act(this);
    return original.apply(this, args);
  });
}
