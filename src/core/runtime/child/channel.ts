import { Socket } from "node:net";
import { CHANNEL_FD, encode, type FromChild, lineReader, type ToChild } from "../protocol.ts";

export interface Channel {
  send(message: FromChild): void;
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
  return { send: (message) => void socket.write(encode(message)) };
}
