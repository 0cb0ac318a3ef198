import { Socket } from "node:net";
import { CHANNEL_FD, encode, type FromChild, lineReader, type ToChild } from "../protocol.ts";

export interface Channel {
  send(message: FromChild): void;
  /** Sends, and stops this process where it stands: what its code left behind does nothing any more. */
  sendLast(message: FromChild): void;
}

/** The child's end. A parent that is gone ends the child: whoever asked will not hear an answer. */
export function openChannel(onMessage: (message: ToChild) => void): Channel {
  const socket = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  const leave = () => process.exit(0);
  socket.on(
    "data",
    lineReader(Number.POSITIVE_INFINITY, (line) => onMessage(JSON.parse(line)), leave),
  );
  socket.on("close", leave);
  socket.on("error", leave);
  return {
    send: (message) => void socket.write(encode(message)),
    sendLast(message) {
      socket.write(encode(message), stop);
      // Written already, as nearly always: then not even what waits for this turn of the loop comes to run.
      if (socket.writableLength === 0) stop();
    },
  };
}

/** The parent ends it within milliseconds; one without a parent ends itself. */
const STOPPED_MS = 10_000;

function stop(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STOPPED_MS);
  process.kill(process.pid, "SIGKILL");
}
