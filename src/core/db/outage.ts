/** Sockets: refused, cut, unresolved, silent. */
const SOCKET = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/**
 * The connection is gone, or good for nothing: connection exceptions; the server stops, recovers or starts; it has no
 * connection left; it ended one that idled in a transaction; it is a standby now, and the primary is elsewhere.
 */
const CUT = /^(08\w{3}|57P0[1-5]|53300|25P03|25006)$/;

/**
 * The connection is well and the server cannot: it has no room on disk or no memory left, its disk fails; or it undid
 * the transaction for the sake of another more often than `withTx` does it again.
 */
const UNABLE = /^(53[012]00|58030|40001|40P01)$/;

/** What pg and its pool say without any code. */
const DRIVER =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated|Client (was closed|has encountered a connection error))/;

/**
 * Whether an error of a database call says nothing about the call: the same one may succeed later. What became of it is
 * not always known, since a connection may be cut between a commit and its answer: look before doing anything again.
 */
export const isOutage = (error: unknown): boolean => isCut(error) || UNABLE.test(codeOf(error));

/** Whether the connection it came over is to be dropped: nothing will be answered on it any more. */
export function isCut(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code === "") return DRIVER.test(error.message);
  // A stopped server takes its Unix socket with it; any other missing file is a mistake of ours.
  if (code === "ENOENT") return "syscall" in error && error.syscall === "connect";
  return SOCKET.has(code) || CUT.test(code);
}

/** SQLSTATE or the system's code; empty where an error has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
