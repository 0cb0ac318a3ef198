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

/** Connection exceptions; the server is stopping, recovering or starting; it has no connection left. */
const SERVER = /^(08\w{3}|57P0[1-5]|53300)$/;

/** What pg and its pool say without any code. */
const DRIVER =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated|Client (was closed|has encountered a connection error))/;

/** Whether an error of a database call says that the database was not there: the same call may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  if (code === null) return DRIVER.test(error.message);
  // A stopped server takes its Unix socket with it; any other missing file is a mistake of ours.
  if (code === "ENOENT") return "syscall" in error && error.syscall === "connect";
  return SOCKET.has(code) || SERVER.test(code);
}
