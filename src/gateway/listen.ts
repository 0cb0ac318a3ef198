import type { AddressInfo } from "node:net";
import { CountersignError } from "../core/domain/errors.ts";
import type { HttpServer } from "./http/server.ts";

/** The last two are of a name that stands for no address. */
const UNUSABLE: ReadonlySet<string> = new Set(["EACCES", "EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"]);

/** Listens and answers the URL. Throws `port_in_use` with what to do. Port 0: a free one. */
export async function listen(app: HttpServer, host: string, port: number, flag: string): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new CountersignError(
        "port_in_use",
        `Port ${port} on ${host} is taken; stop what uses it or pass another one with ${flag}.`,
        { cause: error },
      );
    }
    if (code !== undefined && UNUSABLE.has(code)) {
      throw new CountersignError(
        "config_invalid",
        `${host}:${port} cannot be listened on (${code}); choose another address with HOST or ${flag}.`,
        { cause: error },
      );
    }
    throw error;
  }
  const { port: bound } = app.server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
}
